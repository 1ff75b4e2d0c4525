(function_declaration name: (_) @name parameters: (_) @parameters) @function
(generator_function_declaration name: (_) @name parameters: (_) @parameters) @function
(function_expression name: (_) @name parameters: (_) @parameters) @function
(method_definition name: (_) @name parameters: (_) @parameters) @function
(variable_declarator name: (_) @name value: [
  (arrow_function parameters: (_) @parameters)
  (arrow_function parameter: (_) @parameter)
  (function_expression !name parameters: (_) @parameters)
] @function)
(assignment_expression left: [(identifier) @name (member_expression property: (_) @name)] right: [
  (arrow_function parameters: (_) @parameters)
  (arrow_function parameter: (_) @parameter)
  (function_expression !name parameters: (_) @parameters)
] @function)
(pair key: (_) @name value: [
  (arrow_function parameters: (_) @parameters)
  (arrow_function parameter: (_) @parameter)
  (function_expression !name parameters: (_) @parameters)
] @function)

(call_expression
  function: [(identifier) @name (member_expression object: (_) @receiver property: (_) @name)]
  arguments: (arguments) @arguments) @call
(new_expression
  constructor: [(identifier) @name (member_expression object: (_) @receiver property: (_) @name)]
  arguments: (_)? @arguments) @call
(arguments (spread_element) @spread)
