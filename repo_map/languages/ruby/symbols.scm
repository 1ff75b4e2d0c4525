(module name: (_) @name body: (_)? @body) @module
(class name: (_) @name body: (_)? @body) @class
(method name: (_) @name body: (_)? @body) @function
(singleton_method object: (_) @owner name: (_) @name body: (_)? @body) @function
(program (assignment left: (constant) @name right: (_) @body) @constant)
(body_statement (assignment left: (constant) @name right: (_) @body) @constant)
(call method: (identifier) @callee arguments: (argument_list . (simple_symbol) @name)
  block: (_) @body (#any-of? @callee "define_method" "scope")) @function
(call method: (identifier) @callee arguments: (argument_list (simple_symbol) @name)
  (#any-of? @callee "attr_reader" "attr_writer" "attr_accessor")) @field
(call method: (identifier) @callee arguments: (argument_list . (string))
  (#any-of? @callee "require" "require_relative" "load")) @import
(argument_list . [(method) (singleton_method)] @wrapped .) @wrapper
