(function_def (function_command (argument_list . (argument) @name)) (body)? @body) @function
(macro_def (macro_command (argument_list . (argument) @name)) (body)? @body) @macro
((normal_command (identifier) @callee (argument_list . (argument) @name)) @constant
  (#match? @callee "^(?i:set|option)$"))
((normal_command (identifier) @callee (argument_list . (argument) @name)) @type
  (#match? @callee "^(?i:add_(?:library|executable|custom_target))$"))
((normal_command (identifier) @callee) @import (#match? @callee "^(?i:include|add_subdirectory)$"))
