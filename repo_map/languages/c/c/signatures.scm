(parameter_list (variadic_parameter) @rest)
