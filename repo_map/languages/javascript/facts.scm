(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(call_expression function: (member_expression) arguments: (arguments . [(arrow_function) (function_expression)])) @callback
(variable_declarator) @assign
(assignment_expression) @assign
(formal_parameters) @parameters
(arrow_function parameter: (identifier) @single)
(arrow_function body: (_) @arrow)
[(arrow_function) (function_expression) (generator_function)] @anonymous
(return_statement (_) @return)
(for_in_statement) @loop
(method_definition "get" @getter)
(import_statement) @import
(export_statement) @export
(arguments [(identifier) (member_expression)] @value)
(array (identifier) @value)
(pair value: [(identifier) (member_expression)] @value)
(shorthand_property_identifier) @value
(return_statement (identifier) @value)
(variable_declarator value: (identifier) @value)
(assignment_expression right: (identifier) @value)
(binary_expression [(identifier) (member_expression)] @value)
(ternary_expression (identifier) @value)
(spread_element (identifier) @value)
