(class_declaration name: (_) @name [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (_) @name (class_body)? @body) @interface
(class_declaration name: (_) @name (enum_class_body) @body) @enum
(object_declaration name: (_) @name (class_body)? @body) @class
(companion_object "companion" @name (class_body)? @body) @class
(function_declaration name: (_) @name (function_body)? @body) @function
(secondary_constructor "constructor" @name (block)? @body) @method
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @constant)
(primary_constructor (class_parameters (class_parameter ["val" "var"] . (identifier) @name) @field))
(enum_entry . (identifier) @name) @constant
(type_alias type: (_) @name) @type
(import) @import
