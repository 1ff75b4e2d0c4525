(function_definition declarator: (_) @declarator !body) @function
(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @module
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(template_declaration (_) @wrapped .) @wrapper
(field_declaration_list (declaration declarator: (_) @declarator) @field)
(template_declaration (declaration declarator: (_) @declarator) @constant)
