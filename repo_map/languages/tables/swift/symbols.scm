(class_declaration "class" name: (_) @name body: (_) @body) @class
(class_declaration "actor" name: (_) @name body: (_) @body) @class
(class_declaration "struct" name: (_) @name body: (_) @body) @struct
(class_declaration "enum" name: (_) @name body: (_) @body) @enum
(class_declaration "extension" name: (_) @name body: (_) @body) @impl
(protocol_declaration name: (_) @name body: (_)? @body) @interface
(function_declaration name: (simple_identifier) @name body: (_)? @body) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration "init" @name body: (_)? @body) @method
(deinit_declaration "deinit" @name body: (_)? @body) @method
(subscript_declaration "subscript" @name (computed_property)? @body) @method
(class_body (property_declaration name: (pattern bound_identifier: (_) @name) [
      value: (_) @body
      computed_value: (_) @body
    ]?) @field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)
    computed_value: (_)? @body) @field)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @field
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)
    value: (_)? @body) @constant)
(enum_entry name: (simple_identifier) @name) @constant
(typealias_declaration name: (type_identifier) @name) @type
(import_declaration) @import
