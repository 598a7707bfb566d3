(class_heritage (_) @base)
(field_definition property: (_) @field value: (_) @value)
(formal_parameters (identifier) @local)
(formal_parameters (assignment_pattern left: (identifier) @local))
