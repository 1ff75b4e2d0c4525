(parameter_list (optional_parameter_declaration) @positional @optional)
(parameter_list (optional_parameter_declaration declarator: (_) @name) @positional @optional)
(parameter_list (variadic_parameter_declaration) @rest)
(parameter_list "..." @rest)

(call_expression
  function: [(qualified_identifier) (template_function)] @name arguments: (argument_list) @arguments) @call
(new_expression type: (_) @name arguments: (argument_list)? @arguments) @call
(argument_list (parameter_pack_expansion) @spread)
