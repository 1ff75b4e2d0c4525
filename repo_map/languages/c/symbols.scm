(function_definition declarator: (_) @declarator body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(enumerator name: (_) @name) @constant
(type_definition declarator: (_) @declarator) @type
(type_definition type: (_ body: (_) @body) declarator: (_) @declarator) @type
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (_) @declarator) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (_) @declarator) @struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (_) @declarator) @enum
(preproc_function_def name: (_) @name value: (_)? @body) @macro
(preproc_def name: (_) @name value: (_) @body) @constant
(field_declaration declarator: (_) @declarator) @field
(translation_unit (declaration declarator: (_) @declarator) @constant)
(preproc_ifdef (declaration declarator: (_) @declarator) @constant) @global
(preproc_if (declaration declarator: (_) @declarator) @constant) @global
(preproc_else (declaration declarator: (_) @declarator) @constant) @global
(linkage_specification (declaration declarator: (_) @declarator) @constant)
(declaration_list (declaration declarator: (_) @declarator) @constant)
(preproc_include) @import
