(function_statement (function_name) @name (script_block)? @body) @function
(class_statement . (simple_name) @name @head) @class
(enum_statement . (simple_name) @name @head) @enum
(class_method_definition (simple_name) @name (script_block)? @body) @method
(class_property_definition (variable) @name) @field
(enum_member (simple_name) @name) @constant
(command command_name: (command_name) @callee command_elements: (command_elements . (_) .
    (array_literal_expression (unary_expression (string_literal) @name @head)))
  (#any-of? @callee "Describe" "Context" "It")) @function
(command command_name: (command_name) @callee
  (#eq? @callee "Import-Module")) @import
(command (command_invokation_operator) . (command_name_expr)) @import
