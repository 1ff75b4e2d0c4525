(function_declarator declarator: (_) @name parameters: (_) @parameters) @function
(parameter_list (parameter_declaration declarator: (_) @name) @positional)
(parameter_list (parameter_declaration type: (_) @name !declarator) @positional (#not-eq? @name "void"))

(call_expression
  function: [(identifier) @name (field_expression argument: (_) @receiver field: (_) @name)]
  arguments: (argument_list) @arguments) @call
