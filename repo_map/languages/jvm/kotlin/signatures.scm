(function_declaration name: (_) @name (function_value_parameters) @parameters) @function
(class_declaration name: (_) @name (primary_constructor (class_parameters) @parameters)) @function
(function_value_parameters (parameter . (identifier) @name) @either)
(function_value_parameters (parameter . (identifier) @name) @either . "=" @optional)
(function_value_parameters (parameter_modifiers) @modifiers . (parameter . (identifier) @name) @rest
  (#match? @modifiers "vararg"))
(class_parameters (class_parameter (identifier) @name) @either)
(class_parameters (class_parameter (identifier) @name "=" @optional) @either)

(call_expression . [(identifier) @name (navigation_expression (_) @receiver (identifier) @name .)]
  (value_arguments)? @arguments (annotated_lambda)? @lambda) @call
(call_expression .
  (call_expression . [(identifier) @name (navigation_expression (_) @receiver (identifier) @name .)]
    (value_arguments)? @arguments)
  (annotated_lambda) @lambda) @call
(value_arguments (value_argument . (identifier) @name "=") @named)
(value_arguments (value_argument (spread_expression)) @spread)
