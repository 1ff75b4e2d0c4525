(package_clause (package_identifier) @package)
(import_spec) @import
(call_expression) @call
(type_conversion_expression type: (generic_type type: (_) @generic_call))
[(type_identifier) (qualified_type)] @type
(composite_literal body: (literal_value (keyed_element value: (literal_element [(identifier) (selector_expression)] @value))))
(argument_list [(identifier) (selector_expression)] @value)
(short_var_declaration) @assign
(var_spec) @variable
(const_spec) @variable
(range_clause) @range
(type_switch_statement) @switch
[(parameter_declaration) (variadic_parameter_declaration)] @parameter
[(function_declaration) (method_declaration) (method_elem)] @function
(field_declaration) @field
(interface_type (type_elem) @embedded)
[(type_spec) (type_alias)] @definition
(type_parameter_declaration) @type_parameter
