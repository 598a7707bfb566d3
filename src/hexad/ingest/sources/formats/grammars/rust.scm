(function_item name: (_) @name) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name) @definition.struct
(union_item name: (_) @name) @definition.struct
(enum_item name: (_) @name) @definition.enum
(trait_item name: (_) @name) @definition.trait
(type_item name: (_) @name) @definition.type
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.constant
(macro_definition name: (_) @name) @definition.macro
(mod_item name: (_) @name body: (_)) @definition.namespace
(impl_item type: (_) @name) @definition.extension
