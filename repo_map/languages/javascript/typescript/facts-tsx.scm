(jsx_opening_element name: (_) @call)
(jsx_self_closing_element name: (_) @call)
(jsx_expression [(identifier) (member_expression)] @value)
