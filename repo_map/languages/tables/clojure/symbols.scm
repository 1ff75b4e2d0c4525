(list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
  (#any-of? @callee "defn" "defn-" "defmulti" "defmethod" "deftest" "defspec")) @function
(list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
  (#eq? @callee "defmacro")) @macro
(list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
  (#any-of? @callee "defprotocol" "definterface")) @interface
(list_lit . (sym_lit name: (_) @callee) . (sym_lit name: (_) @name) @head
  (#any-of? @callee "defrecord" "deftype")) @class
(list_lit . (sym_lit name: (_) @callee) . [(sym_lit name: (_) @name) (kwd_lit name: (_) @name)]
  (#any-of? @callee "def" "defonce" "defstate")) @constant
(list_lit . (sym_lit name: (_) @callee) (#eq? @callee "ns")) @import
