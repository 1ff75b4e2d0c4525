(function_declaration name: (_) @name body: (_)? @body) @function
(assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @function
(table_constructor (field name: (_) @name value: (function_definition body: (_)? @body)) @function)
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name)
      (expression_list . value: (_) @body))) @constant)
(variable_declaration . (assignment_statement) @wrapped .) @wrapper
(function_call name: (identifier) @callee arguments: (arguments . (string))
  (#eq? @callee "require")) @import
