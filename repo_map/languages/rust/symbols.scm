(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (_)? @body) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(trait_item name: (_) @name body: (_) @body) @trait
(impl_item type: (_) @name body: (_)? @body) @impl
(mod_item name: (_) @name body: (_)? @body) @module
(macro_definition name: (_) @name) @macro
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name value: (_)? @body) @constant
(static_item name: (_) @name value: (_)? @body) @constant
(field_declaration name: (_) @name) @field
(enum_variant name: (_) @name) @constant
(attribute_item) @attribute

(use_declaration) @import
(extern_crate_declaration) @import
