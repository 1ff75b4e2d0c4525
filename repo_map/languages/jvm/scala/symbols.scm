(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_)? @body) @enum
(package_object name: (_) @name body: (_)? @body) @module
(given_definition name: (_) @name body: (_)? @body) @impl
(function_definition name: (_) @name body: (_)? @body) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type
(simple_enum_case name: (_) @name) @constant
(full_enum_case name: (_) @name) @constant
(template_body [
  (val_definition pattern: (identifier) @name value: (_) @body)
  (var_definition pattern: (identifier) @name value: (_) @body)
  (val_declaration name: (_) @name)
  (var_declaration name: (_) @name)
] @field)
(compilation_unit [
  (val_definition pattern: (identifier) @name value: (_) @body)
  (var_definition pattern: (identifier) @name value: (_) @body)
] @constant)
(import_declaration) @import
