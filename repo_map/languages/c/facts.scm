(preproc_include path: (_) @import)
(function_definition) @function
(declaration) @declaration
(field_declaration) @field
(type_definition) @definition
(call_expression) @call
(type_identifier) @type
(argument_list (identifier) @value)
(initializer_list (identifier) @value)
(initializer_pair value: (identifier) @value)
(pointer_expression argument: (identifier) @value)
(assignment_expression right: (identifier) @value)
