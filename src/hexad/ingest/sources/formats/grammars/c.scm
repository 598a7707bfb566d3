(function_definition declarator: (_) @name) @definition.function
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(enumerator name: (_) @name) @definition.constant
(type_definition declarator: (_) @name) @definition.type
(preproc_def name: (_) @name value: (_)) @definition.constant
(preproc_function_def name: (_) @name) @definition.macro
(translation_unit (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
