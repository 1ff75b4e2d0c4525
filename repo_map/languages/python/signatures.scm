; What functions take and calls give; parsing/forms.py lists the captures.
(function_definition name: (_) @name parameters: (_) @parameters) @function
(parameters (identifier) @name @either)
(parameters (typed_parameter . (identifier) @name) @either)
(parameters (tuple_pattern) @either)
(parameters [(default_parameter name: (_) @name) (typed_default_parameter name: (_) @name)] @either @optional)
(parameters [
  (list_splat_pattern (identifier) @name)
  (typed_parameter (list_splat_pattern (identifier) @name))
] @rest @keyword_start)
(parameters [
  (dictionary_splat_pattern (identifier) @name)
  (typed_parameter (dictionary_splat_pattern (identifier) @name))
] @keyword_rest)
(parameters (positional_separator) @positional_end)
(parameters (keyword_separator) @keyword_start)

(call
  function: [(identifier) @name (attribute object: (_) @receiver attribute: (_) @name)]
  arguments: [(argument_list) @arguments (generator_expression) @only]) @call
(argument_list (keyword_argument name: (_) @name) @named)
(argument_list [(list_splat) (dictionary_splat)] @spread)
(return_statement (_) @returned)
(yield) @yielded
