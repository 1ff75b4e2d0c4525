(expression_statement [(identifier) (member_expression)] @value)
(expression_statement (parenthesized_expression [(identifier) (member_expression)] @value))
