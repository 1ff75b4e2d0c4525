(method name: (_) @name parameters: (_)? @parameters) @function
(singleton_method name: (_) @name parameters: (_)? @parameters) @function
(method_parameters (identifier) @name @either)
(method_parameters (optional_parameter name: (_) @name) @either @optional)
(method_parameters (destructured_parameter) @positional)
(method_parameters (splat_parameter name: (_)? @name) @rest)
(method_parameters (forward_parameter) @rest)
(method_parameters (keyword_parameter name: (_) @name) @keyword)
(method_parameters (keyword_parameter name: (_) @name value: (_)) @keyword @optional)
(method_parameters (hash_splat_parameter name: (_)? @name) @keyword_rest)

(call receiver: (_)? @receiver method: [(identifier) (constant)] @name arguments: (_)? @arguments) @call
(argument_list (pair key: (hash_key_symbol) @name) @named)
(argument_list [(splat_argument) (hash_splat_argument) (forward_argument)] @spread)
(argument_list (block_argument) @ignored)
