(use_declaration argument: (_) @import)
[(function_item) (function_signature_item)] @function
[(struct_item) (enum_item) (trait_item) (impl_item) (type_item)] @item
(field_declaration) @field
[(const_item) (static_item)] @constant
(let_declaration) @let
(let_condition) @let
(match_expression) @match
(for_expression) @loop
(closure_expression) @closure
(call_expression) @call
(macro_invocation) @macro
(type_identifier) @type
(scoped_identifier path: (identifier) @head)
