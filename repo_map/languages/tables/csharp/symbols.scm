(class_declaration name: (_) @name body: (_)? @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_)? @body) @struct
(interface_declaration name: (_) @name body: (_)? @body) @interface
(enum_declaration name: (_) @name body: (_)? @body) @enum
(namespace_declaration name: (_) @name body: (_)? @body) @module
(delegate_declaration name: (_) @name) @type
[
  (method_declaration name: (_) @name body: (_)? @body)
  (constructor_declaration name: (_) @name body: (_)? @body)
  (destructor_declaration name: (_) @name body: (_)? @body)
  (operator_declaration operator: _ @name body: (_)? @body)
  (conversion_operator_declaration type: (_) @name body: (_)? @body)
  (indexer_declaration "this" @name accessors: (_)? @body)
] @method
(local_function_statement name: (_) @name body: (_)? @body) @function
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(event_declaration name: (_) @name accessors: (_)? @body) @field
(property_declaration name: (_) @name accessors: (_)? @body) @field
(enum_member_declaration name: (_) @name) @constant
(using_directive) @import
