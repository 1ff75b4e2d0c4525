(from_instruction as: (_) @name) @module
(arg_pair name: (_) @name) @constant
(env_pair name: (_) @name) @constant
