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
(using_declaration) @using
(alias_declaration) @alias
[(class_specifier) (struct_specifier)] @class
(template_declaration) @template
(for_range_loop) @loop
(catch_clause) @caught
(lambda_expression) @lambda
(new_expression) @new
(qualified_identifier scope: (namespace_identifier) @scope)
