((rule (targets (word) @name) (recipe)? @body) @function (#not-match? @name "^[.]|%"))
(variable_assignment name: (_) @name value: (_)? @body) @constant
(define_directive name: (_) @name value: (_)? @body) @macro
(include_directive) @import
