(using_declaration) @using
(alias_declaration) @alias
[(class_specifier) (struct_specifier)] @class
(template_declaration) @template
(for_range_loop) @loop
(catch_clause) @caught
(lambda_expression) @lambda
(new_expression) @new
(qualified_identifier scope: (namespace_identifier) @scope)
