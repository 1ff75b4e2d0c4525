(file_annotation) @file
(package_header (qualified_identifier) @package)
(import) @import
(call_expression (annotated_lambda)) @lambda
(object_literal) @anonymous
[(class_declaration) (object_declaration) (companion_object)] @class
(type_alias) @alias
[(function_declaration) (secondary_constructor)] @function
(property_declaration) @property
(for_statement) @loop
(catch_block) @caught
(lambda_literal (lambda_parameters) @given)
(is_expression) @test
(when_expression (when_subject)) @when
(delegation_specifier (constructor_invocation) @construct)
(constructor_delegation_call) @delegate
(call_expression (call_expression) @trailing (annotated_lambda))
(call_expression) @call
(binary_expression left: (binary_expression left: (_) @generic "<") ">" right: (parenthesized_expression))
(infix_expression) @infix
(navigation_expression "::") @reference
(callable_reference) @reference
(navigation_expression . (identifier) @head)
(user_type) @type
