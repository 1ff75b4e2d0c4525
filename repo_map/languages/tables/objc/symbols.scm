([(class_interface . (identifier) @name @head) (class_implementation . (identifier) @name @head)] @class)
(protocol_declaration . (identifier) @name @head) @interface
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @method
(method_declaration (method_type) . (identifier) @name) @method
(property_declaration (struct_declaration (struct_declarator (identifier) @name))) @field
(property_declaration (struct_declaration
    (struct_declarator (pointer_declarator (identifier) @name)))) @field
(function_definition declarator: (function_declarator declarator: (identifier) @name)
  body: (_) @body) @function
(function_definition declarator: (pointer_declarator
    (function_declarator declarator: (identifier) @name)) body: (_) @body) @function
(enum_specifier name: (_) @name body: (_) @body) @enum
(struct_specifier name: (_) @name body: (_) @body) @struct
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (_) @name) @constant
(enumerator name: (_) @name) @constant
(preproc_function_def name: (_) @name value: (_)? @body) @macro
[(preproc_include) (module_import)] @import
