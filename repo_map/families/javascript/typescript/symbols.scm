[
  (function_declaration name: (_) @name body: (_) @body)
  (generator_function_declaration name: (_) @name body: (_) @body)
  (function_signature name: (_) @name)
] @function
[
  (method_definition name: (_) @name body: (_) @body)
  (abstract_method_signature name: (_) @name)
  (method_signature name: (_) @name)
] @method
(class_declaration name: (_) @name body: (_) @body) @class
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(type_alias_declaration name: (_) @name value: (_) @body) @type
(internal_module name: (_) @name body: (_) @body) @module
(module name: (_) @name body: (_) @body) @module

(export_statement declaration: (_) @wrapped) @wrapper
(export_statement value: (_) @wrapped) @wrapper
(ambient_declaration (_) @wrapped .) @wrapper
(lexical_declaration . (variable_declarator) @wrapped .) @wrapper
(variable_declaration . (variable_declarator) @wrapped .) @wrapper
(expression_statement [(assignment_expression) (internal_module)] @wrapped) @wrapper
(class_body (decorator) @attribute)

(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
  (call_expression arguments: (arguments [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))
]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(pair key: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @method
(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @method
(assignment_expression left: (_) @name right: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @function
(assignment_expression left: (_) @name right: (class body: (_) @body)) @class
(export_statement "default" @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
] @function)

(public_field_definition name: (_) @name value: (_)? @body) @field
(interface_body (property_signature name: (_) @name) @field)
(program (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @body) @constant))
(program (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @body) @constant))
(program (export_statement (lexical_declaration
  (variable_declarator name: (identifier) @name value: (_)? @body) @constant)))
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @constant))

(import_statement) @import
(export_statement source: (_)) @import
