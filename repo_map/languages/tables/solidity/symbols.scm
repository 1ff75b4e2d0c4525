(contract_declaration name: (_) @name body: (_)? @body) @class
(library_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @interface
(struct_declaration name: (_) @name body: (_)? @body) @struct
(enum_declaration name: (_) @name body: (_)? @body) @enum
(function_definition name: (_) @name body: (_)? @body) @function
(modifier_definition name: (_) @name body: (_)? @body) @function
(error_declaration name: (_) @name) @type
(user_defined_type_definition name: (_) @name) @type
(event_definition name: (_) @name) @type
(state_variable_declaration name: (_) @name) @field
(struct_member name: (_) @name) @field
(constant_variable_declaration name: (_) @name) @constant
(constructor_definition "constructor" @name body: (_)? @body) @method
(fallback_receive_definition ["receive" "fallback"] @name body: (_)? @body) @method
(enum_value) @constant @name
(import_directive) @import
