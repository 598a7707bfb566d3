(function_declaration name: (_) @name) @definition.function
(method_declaration receiver: (_) @owner name: (_) @name) @definition.method
(type_spec name: (_) @name type: (struct_type)) @definition.struct
(type_spec name: (_) @name type: (interface_type)) @definition.interface
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(method_elem name: (_) @name) @definition.method
(source_file (const_declaration (const_spec name: (identifier)+ @name) @definition.constant))
(source_file (var_declaration (var_spec name: (identifier)+ @name) @definition.constant))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier)+ @name) @definition.constant)))
