(class_definition name: (_) @name body: (_)? @body) @class
(enum_declaration name: (_) @name body: (_)? @body) @enum
(extension_declaration name: (_) @name body: (_)? @body) @impl
(mixin_declaration . (mixin) . (identifier) @name (class_body) @body) @trait
(type_alias . (type_identifier) @name) @type
(program ((function_signature name: (_) @name) @function . (function_body) @body))
(program ((getter_signature name: (_) @name) @function . (function_body) @body))
((method_signature (_ name: (_) @name)) @method . (function_body) @body)
((method_signature (operator_signature (binary_operator) @name)) @method . (function_body) @body)
((method_signature (factory_constructor_signature . (identifier) . (identifier)? @name)) @method
  . (function_body) @body)
(declaration (function_signature name: (_) @name)) @method
(declaration (getter_signature name: (_) @name)) @method
(declaration (constructor_signature name: (_) @name .)) @method
(declaration (constructor_signature name: (_) @name . (formal_parameter_list))) @method
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @field
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @field
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @constant))
(enum_constant name: (_) @name) @constant
(annotation) @attribute
(import_or_export) @import
