(function_declaration name: (_) @name parameters: (_) @parameters) @function
(method_declaration name: (_) @name parameters: (_) @parameters) @function
(method_elem name: (_) @name parameters: (_) @parameters) @function
(parameter_list (parameter_declaration name: (_) @name) @positional)
(parameter_list (parameter_declaration !name) @positional)
(parameter_list (variadic_parameter_declaration name: (_)? @name) @rest)

(call_expression
  function: [(identifier) @name (selector_expression operand: (_) @receiver field: (_) @name)]
  arguments: (_) @arguments) @call
(argument_list (variadic_argument) @spread)
; One call may give several values.
(argument_list . (call_expression) @several .)
