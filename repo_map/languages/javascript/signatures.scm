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

(export_statement declaration: (_ name: (_) @name)) @export
(export_statement declaration: (_ (variable_declarator name: (identifier) @name))) @export
(export_statement declaration: (_ (variable_declarator name: (object_pattern
  (shorthand_property_identifier_pattern) @name)))) @export
(export_statement "default" @name) @export
(export_statement "default" @name value: (identifier) @local) @export
(export_statement (export_clause (export_specifier name: (_) @local alias: (_) @name)) source: (_)? @module) @export
(export_statement (export_clause (export_specifier name: (_) @name !alias)) source: (_)? @module) @export
(export_statement (namespace_export (_) @name) source: (_) @module) @export
(export_statement "*" source: (_) @module) @export
(assignment_expression left: (member_expression object: (identifier) @of property: (_) @name)
  right: (_) @local (#eq? @of "exports")) @export
(assignment_expression
  left: (member_expression object: (member_expression) @of property: (_) @name)
  right: (_) @local (#eq? @of "module.exports")) @export
(assignment_expression left: (member_expression) @of right: (_) @local (#eq? @of "module.exports")) @export @whole
(assignment_expression left: (member_expression) @of right: (object [
  (shorthand_property_identifier) @name
  (pair key: (_) @name value: (_) @local)
  (method_definition name: (_) @name)
  (spread_element (call_expression function: (identifier) arguments: (arguments (string) @module)))
]) (#eq? @of "module.exports")) @export
