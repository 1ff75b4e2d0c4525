(call function: (_) @call)
(assignment) @assign
(named_expression) @walrus
(function_definition) @function
(class_definition superclasses: (argument_list) @bases)
(decorator (_) @decorator)
(return_statement (_) @return)
(yield (_) @yield)
[(for_statement) (for_in_clause)] @loop
(as_pattern) @as
(type) @type
(import_statement) @import
(import_from_statement) @import
(argument_list [(identifier) (attribute)] @value)
(keyword_argument value: [(identifier) (attribute)] @value)
(list [(identifier) (attribute)] @value)
(tuple [(identifier) (attribute)] @value)
(set [(identifier) (attribute)] @value)
(assignment right: (subscript subscript: [(identifier) (attribute)] @value))
(pair [(identifier) (attribute)] @value)
(return_statement [(identifier) (attribute)] @value)
(raise_statement [(identifier) (attribute)] @value)
(assignment right: [(identifier) (attribute)] @value)
(default_parameter value: [(identifier) (attribute)] @value)
(comparison_operator [(identifier) (attribute)] @value)
(binary_operator [(identifier) (attribute)] @value)
(boolean_operator [(identifier) (attribute)] @value)
(except_clause (as_pattern [(identifier) (attribute) (tuple)] @type))
(except_clause [(identifier) (attribute) (tuple)] @type)
(if_statement condition: (call function: (identifier) @test arguments: (argument_list)) consequence: (block))
(assert_statement (call function: (identifier) @test))
(if_statement alternative: (_)) @branches
