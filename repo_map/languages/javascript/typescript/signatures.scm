(public_field_definition name: (_) @name value: [
  (arrow_function parameters: (_) @parameters)
  (arrow_function parameter: (_) @parameter)
  (function_expression !name parameters: (_) @parameters)
] @function)
(function_signature name: (_) @name parameters: (_) @parameters) @function
(method_signature name: (_) @name parameters: (_) @parameters) @function
(abstract_method_signature name: (_) @name parameters: (_) @parameters) @function
(formal_parameters (required_parameter
  pattern: [(identifier) (object_pattern) (array_pattern)] @name value: (_)? @optional) @positional)
(formal_parameters (required_parameter pattern: (rest_pattern (_) @name)) @rest)
(formal_parameters (optional_parameter pattern: (_) @name) @positional @optional)
(export_statement "=" (identifier) @local) @export @whole
(export_statement declaration: (ambient_declaration (_ name: (_) @name))) @export
(export_statement declaration: (ambient_declaration (_ (variable_declarator name: (_) @name)))) @export
