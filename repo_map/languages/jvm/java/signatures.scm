(method_declaration name: (_) @name parameters: (_) @parameters) @function
(constructor_declaration name: (_) @name parameters: (_) @parameters) @function
(formal_parameters (formal_parameter name: (_) @name) @positional)
(formal_parameters (spread_parameter (variable_declarator name: (_) @name)) @rest)

(method_invocation object: (_)? @receiver name: (_) @name arguments: (_) @arguments) @call
(object_creation_expression type: [
  (type_identifier) @name
  (scoped_type_identifier (_) @receiver (type_identifier) @name .)
  (generic_type . (type_identifier) @name)
  (generic_type . (scoped_type_identifier (_) @receiver (type_identifier) @name .))
] arguments: (_) @arguments) @call
