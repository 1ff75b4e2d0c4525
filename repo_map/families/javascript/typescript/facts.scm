(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(call_expression function: (member_expression) arguments: (arguments . [(arrow_function) (function_expression)])) @callback
(variable_declarator) @assign
(assignment_expression) @assign
(public_field_definition) @field
(property_signature) @field
(formal_parameters) @parameters
(arrow_function parameter: (identifier) @single)
(arrow_function body: (_) @arrow)
[(arrow_function) (function_expression) (generator_function)] @anonymous
[
  (function_declaration return_type: (_) @returns)
  (function_signature return_type: (_) @returns)
  (function_expression return_type: (_) @returns)
  (arrow_function return_type: (_) @returns)
  (method_definition return_type: (_) @returns)
  (method_signature return_type: (_) @returns)
  (abstract_method_signature return_type: (_) @returns)
]
(return_statement (_) @return)
(for_in_statement) @loop
(extends_clause) @base
(implements_clause) @base
(extends_type_clause) @base
(type_alias_declaration value: (_) @alias)
(method_definition "get" @getter)
(import_statement) @import
(export_statement) @export
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
(arguments [(identifier) (member_expression)] @value)
(array (identifier) @value)
(pair value: [(identifier) (member_expression)] @value)
(shorthand_property_identifier) @value
(return_statement (identifier) @value)
(variable_declarator value: (identifier) @value)
(assignment_expression right: (identifier) @value)
(public_field_definition value: (identifier) @value)
(binary_expression [(identifier) (member_expression)] @value)
(ternary_expression (identifier) @value)
(spread_element (identifier) @value)
(as_expression (identifier) @value)
(satisfies_expression (identifier) @value)
(decorator (identifier) @value)
