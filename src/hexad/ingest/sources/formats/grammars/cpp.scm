(class_specifier name: (_) @name body: (_)) @definition.class
(namespace_definition name: (_) @name) @definition.namespace
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
(field_declaration declarator: [
  (function_declarator)
  (pointer_declarator (function_declarator))
  (reference_declarator (function_declarator))] @name) @definition.method
(field_declaration_list (declaration declarator: (function_declarator) @name) @definition.method)
(namespace_definition (declaration_list (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant))
