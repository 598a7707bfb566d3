(class_declaration name: (_) @name) @definition.class
(record_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(annotation_type_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(method_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name) @definition.method
(compact_constructor_declaration name: (_) @name) @definition.method
(field_declaration (modifiers) @_modifiers declarator: (variable_declarator name: (_) @name)
  (#match? @_modifiers "static[^()]*final|final[^()]*static")) @definition.constant
(enum_constant name: (_) @name) @definition.constant
