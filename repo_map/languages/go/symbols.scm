(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration receiver: (_) @owner name: (_) @name body: (_)? @body) @method

(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @interface
(type_spec name: (_) @name type: (_) @body) @type
(type_alias name: (_) @name type: (_) @body) @type
(type_declaration "type" . [(type_spec) (type_alias)] @wrapped .) @wrapper

(type_spec type: (struct_type (field_declaration_list (field_declaration name: (_) @name) @field)))
(type_spec type: (interface_type (method_elem name: (_) @name) @method))

(source_file (const_declaration (const_spec name: (_) @name value: (_)? @body) @constant))
(source_file (var_declaration (var_spec name: (_) @name value: (_)? @body) @constant))
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name value: (_)? @body) @constant)))
(source_file (var_declaration (var_spec name: (_) @name value: (expression_list . (func_literal body: (_) @body) .)) @function))
(source_file (const_declaration (const_spec name: (_) @name) @constant))
(const_declaration "const" . (const_spec) @wrapped .) @wrapper
(var_declaration "var" . (var_spec) @wrapped .) @wrapper

(import_spec) @import
