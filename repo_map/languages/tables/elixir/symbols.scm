(call target: (identifier) @callee (arguments . (_) @name) (do_block)? @body
  (#any-of? @callee "defmodule" "defimpl")) @module
(call target: (identifier) @callee (arguments . (_) @name) (do_block)? @body
  (#eq? @callee "defprotocol")) @interface
(call target: (identifier) @callee (arguments . (_) @name) (do_block)? @body
  (#any-of? @callee "def" "defp" "defn" "defdelegate" "defguard" "defguardp")) @function
(call target: (identifier) @callee (arguments . (_) @name) (do_block)? @body
  (#any-of? @callee "defmacro" "defmacrop")) @macro
(call target: (identifier) @callee (arguments . (string) @name) (do_block) @body
  (#any-of? @callee "test" "describe")) @function
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . (_)))
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|impl|type|typep|opaque|callback|macrocallback|behaviour|derive|tag|moduletag|describetag|since|deprecated|compile|dialyzer|external_resource)$")) @constant)
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @callee (arguments . (_) @name)
  (#any-of? @callee "type" "typep" "opaque" "callback" "macrocallback"))) @type)
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @callee
  (#any-of? @callee "doc" "typedoc" "spec" "impl" "since" "deprecated" "tag"))) @attribute)
(call target: (identifier) @name (#eq? @name "defstruct")) @struct
(call target: (identifier) @callee (arguments . [(alias) (dot)])
  (#any-of? @callee "alias" "import" "use" "require")) @import
