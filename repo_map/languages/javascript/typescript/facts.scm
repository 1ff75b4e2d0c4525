(public_field_definition) @field
(property_signature) @field
[
  (function_declaration return_type: (_) @returns)
  (function_signature return_type: (_) @returns)
  (function_expression return_type: (_) @returns)
  (arrow_function return_type: (_) @returns)
  (method_definition return_type: (_) @returns)
  (method_signature return_type: (_) @returns)
  (abstract_method_signature return_type: (_) @returns)
]
(extends_clause) @base
(implements_clause) @base
(extends_type_clause) @base
(type_alias_declaration value: (_) @alias)
(type_identifier) @type
(nested_type_identifier) @nested
[
  (class_declaration name: (_) @declared)
  (abstract_class_declaration name: (_) @declared)
  (interface_declaration name: (_) @declared)
  (type_alias_declaration name: (_) @declared)
  (type_parameter name: (_) @declared)
  (class name: (_) @declared)
]
(type_query (identifier) @value)
(public_field_definition value: (identifier) @value)
(as_expression (identifier) @value)
(satisfies_expression (identifier) @value)
(decorator (identifier) @value)
