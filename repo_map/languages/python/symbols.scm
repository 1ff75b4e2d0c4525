; @head is the colon that ends the signature: comments may stand between it and the body.
(function_definition name: (identifier) @name ":" @head body: (block) @body) @function
(class_definition name: (identifier) @name ":" @head body: (block) @body) @class
(decorated_definition definition: (_) @wrapped) @wrapper

(module (expression_statement
  (assignment left: (identifier) @name right: (_)? @body) @constant))
(class_definition body: (block (expression_statement
  (assignment left: (identifier) @name right: (_)? @body) @field)))
(type_alias_statement left: (type (identifier) @name)) @type

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import
