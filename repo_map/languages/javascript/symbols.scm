[
  (function_declaration name: (_) @name body: (_) @body)
  (generator_function_declaration name: (_) @name body: (_) @body)
] @function
(method_definition name: (_) @name body: (_) @body) @method
(class_declaration name: (_) @name body: (_) @body) @class

(export_statement declaration: (_) @wrapped) @wrapper
(export_statement value: (_) @wrapped) @wrapper
(lexical_declaration . (variable_declarator) @wrapped .) @wrapper
(variable_declaration . (variable_declarator) @wrapped .) @wrapper
(expression_statement (assignment_expression) @wrapped) @wrapper

(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
  (call_expression arguments: (arguments [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))
]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(pair key: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @method
(assignment_expression left: (_) @name right: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @function
(assignment_expression left: (_) @name right: (class body: (_) @body)) @class
(export_statement "default" @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
] @function)

(program (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @body) @constant))
(program (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @body) @constant))
(program (export_statement (lexical_declaration
  (variable_declarator name: (identifier) @name value: (_)? @body) @constant)))

(import_statement) @import
(export_statement source: (_)) @import
