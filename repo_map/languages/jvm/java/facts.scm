(package_declaration (_) @package)
(import_declaration) @import
[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @class
[(method_declaration) (constructor_declaration) (annotation_type_element_declaration)] @function
[(field_declaration) (constant_declaration)] @field
(local_variable_declaration) @local
(enhanced_for_statement) @loop
(catch_formal_parameter) @caught
(resource type: (_)) @resource
(lambda_expression) @lambda
(instanceof_expression name: (_)) @test
[(type_pattern) (record_pattern_component)] @pattern
(method_invocation) @call
(method_invocation object: (identifier) @head)
(field_access object: (identifier) @head)
(method_reference) @reference
(object_creation_expression) @new
(explicit_constructor_invocation) @construct
(scoped_type_identifier) @scoped
(type_identifier) @type
[(annotation) (marker_annotation)] @annotation
