(preproc_include path: (_) @import)
(call_expression function: (_) @call)
[(identifier) (type_identifier)] @name
(parameter_declaration type: (_) @type declarator: (_) @local)
(declaration type: (_) @type declarator: (_) @local)
(init_declarator declarator: (_) @local value: (_) @value)
(field_declaration type: (_) @type declarator: (_) @field)
