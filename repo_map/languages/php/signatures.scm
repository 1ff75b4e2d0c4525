(function_definition name: (_) @name parameters: (_) @parameters) @function
(method_declaration name: (_) @name parameters: (_) @parameters) @function
(formal_parameters [(simple_parameter name: (_) @name) (property_promotion_parameter name: (_) @name)] @either)
(formal_parameters [
  (simple_parameter name: (_) @name default_value: (_))
  (property_promotion_parameter name: (_) @name default_value: (_))
] @either @optional)
(formal_parameters (variadic_parameter name: (_) @name) @rest)

(function_call_expression
  function: [(name) @name (qualified_name (name) @name .)] arguments: (_) @arguments) @call
(member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(scoped_call_expression scope: (_) @receiver name: (name) @name arguments: (_) @arguments) @call
(object_creation_expression [(name) @name (qualified_name (name) @name .)] (arguments)? @arguments) @call
(arguments (argument name: (_) @name) @named)
(arguments [(argument (variadic_unpacking)) (variadic_placeholder)] @spread)
