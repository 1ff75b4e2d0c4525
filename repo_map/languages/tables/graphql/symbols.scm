(object_type_definition (name) @name (fields_definition)? @body) @struct
(object_type_extension (name) @name (fields_definition)? @body) @struct
(input_object_type_definition (name) @name (input_fields_definition)? @body) @struct
(interface_type_definition (name) @name (fields_definition)? @body) @interface
(interface_type_extension (name) @name (fields_definition)? @body) @interface
(enum_type_definition (name) @name (enum_values_definition)? @body) @enum
(union_type_definition (name) @name) @type
(scalar_type_definition (name) @name) @type
(directive_definition (name) @name) @type
(operation_definition (name) @name (selection_set)? @body) @function
(fragment_definition (fragment_name) @name (selection_set)? @body) @function
(field_definition (name) @name) @field
(input_fields_definition (input_value_definition . (name) @name) @field)
(enum_value_definition (enum_value) @name) @constant
