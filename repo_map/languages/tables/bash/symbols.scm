(function_definition name: (_) @name body: (_)? @body) @function
(program (variable_assignment name: (variable_name) @name value: (_)? @body) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
(command name: (command_name (word) @callee) . argument: (_)
  (#any-of? @callee "source" ".")) @import
