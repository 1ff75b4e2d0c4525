[(class) (module)] @class
(call method: (identifier) @callee (#any-of? @callee "include" "extend" "prepend")) @mixin
[(method) (singleton_method)] @function
(assignment) @assigned
(call method: (_)) @call
(identifier) @bare
(super) @super
[(constant) (scope_resolution)] @constant
