(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
[
  (method_declaration name: (_) @name body: (_)? @body)
  (constructor_declaration name: (_) @name body: (_) @body)
  (compact_constructor_declaration name: (_) @name body: (_) @body)
  (annotation_type_element_declaration name: (_) @name)
] @method
(field_declaration declarator: (_ name: (_) @name value: (_)? @body)) @field
(constant_declaration declarator: (_ name: (_) @name value: (_)? @body)) @field
(enum_constant name: (_) @name body: (_)? @body) @constant
(import_declaration) @import
