(data_type name: (_) @name constructors: (_)? @body) @struct
(newtype name: (_) @name constructors: (_)? @body) @struct
(class name: (_) @name declarations: (_)? @body) @class
(type_synonym name: (_) @name) @type
(type_family name: (_) @name) @type
(instance name: (_) @name patterns: (_) @name declarations: (_)? @body) @impl
([(function name: (_) @name match: (_) @body) (bind name: (_) @name match: (_) @body)
    (function (infix operator: (_) @name) match: (_) @body) (signature name: (_) @name)] @function @global)
(data_constructor (_ name: (constructor) @name)) @constant
(field name: (field_name) @name) @field
(import) @import
