(function_item name: (_) @name parameters: (_) @parameters) @function
(function_signature_item name: (_) @name parameters: (_) @parameters) @function
(parameters (self_parameter (self) @name) @positional)
(parameters (parameter pattern: _ @name) @positional)
(parameters (variadic_parameter) @rest)

(call_expression function: [
  (identifier) @name
  (scoped_identifier path: (_)? @receiver name: (_) @name)
  (field_expression value: (_) @receiver field: (field_identifier) @name)
  (generic_function function: [
    (identifier) @name
    (scoped_identifier path: (_)? @receiver name: (_) @name)
    (field_expression value: (_) @receiver field: (field_identifier) @name)
  ])
] arguments: (_) @arguments) @call
