; What JavaScript and TypeScript share.
(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(method_definition name: (_) @name) @definition.method
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @definition.function
(variable_declarator name: (identifier) @name value: (class)) @definition.class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant)))
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (_) @name)
  right: [(arrow_function) (function_expression)]
  (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (member_expression object: (member_expression object: (identifier) @_module property: (_) @_exports) property: (_) @name)
  right: [(arrow_function) (function_expression)]
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (member_expression object: (member_expression object: (identifier) @owner property: (_) @_prototype) property: (_) @name)
  right: [(arrow_function) (function_expression)]
  (#eq? @_prototype "prototype")) @definition.method
(export_statement "default" @name value: [(arrow_function) (function_expression)]) @definition.function
(export_statement "default" @name value: (class)) @definition.class
(export_statement "default" @name value: [(object) (call_expression) (array) (string) (template_string)]) @definition.constant
