(function_signature name: (_) @name) @function
[(abstract_method_signature name: (_) @name) (method_signature name: (_) @name)] @method
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(type_alias_declaration name: (_) @name value: (_) @body) @type
(internal_module name: (_) @name body: (_) @body) @module
(module name: (_) @name body: (_) @body) @module

(ambient_declaration (_) @wrapped .) @wrapper
(expression_statement (internal_module) @wrapped) @wrapper
(class_body (decorator) @attribute)

(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @method
(public_field_definition name: (_) @name value: (_)? @body) @field
(interface_body (property_signature name: (_) @name) @field)
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
