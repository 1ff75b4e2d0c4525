[(class) (module)] @class
(call method: (identifier) @callee (#any-of? @callee "include" "extend" "prepend")) @mixin
[(method) (singleton_method)] @function
(assignment) @assigned
(call method: (_)) @call
(super) @super
[(constant) (scope_resolution)] @constant
