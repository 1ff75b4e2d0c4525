(field_definition property: (_) @name value: [
  (arrow_function parameters: (_) @parameters)
  (arrow_function parameter: (_) @parameter)
  (function_expression !name parameters: (_) @parameters)
] @function)
(formal_parameters (identifier) @name @positional)
(formal_parameters (assignment_pattern left: (_) @name) @positional @optional)
(formal_parameters [(object_pattern) (array_pattern)] @positional)
(formal_parameters (rest_pattern (_) @name) @rest)
