(import_statement) @import
(export_statement) @import
(call_expression function: (identifier) @_require arguments: (arguments . (string)) (#eq? @_require "require")) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
[(identifier) (shorthand_property_identifier)] @name
(variable_declarator name: (identifier) @local)
(variable_declarator name: (identifier) @local value: (_) @value)
(arrow_function parameter: (identifier) @local)
[(shorthand_property_identifier_pattern) (rest_pattern (identifier))] @local
(pair_pattern value: (identifier) @local)
(array_pattern (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(assignment_expression left: (member_expression object: (this) property: (_) @field) right: (_) @value)
(assignment_expression left: (member_expression object: (identifier) @_module property: (_) @_exports) right: (identifier) @import
  (#eq? @_module "module") (#eq? @_exports "exports"))
