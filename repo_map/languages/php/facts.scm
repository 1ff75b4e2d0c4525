(namespace_definition name: (_) @package)
(namespace_use_declaration) @import
[(class_declaration) (interface_declaration) (trait_declaration) (enum_declaration)] @class
(use_declaration) @trait
[(function_definition) (method_declaration)] @function
[(anonymous_function) (arrow_function)] @closure
(property_declaration) @property
(assignment_expression) @assigned
(foreach_statement) @loop
(catch_clause) @caught
(binary_expression operator: "instanceof") @test
(object_creation_expression) @new
[(member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)] @call
(function_call_expression) @plain
(class_constant_access_expression . (_) @head)
(scoped_property_access_expression scope: (_) @head)
(named_type (_) @type)
(attribute . (_) @type)
