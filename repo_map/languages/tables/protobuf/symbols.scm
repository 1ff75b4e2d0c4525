(message (message_name) @name (message_body)? @body) @struct
(enum (enum_name) @name (enum_body)? @body) @enum
(service (service_name) @name @head) @interface
(rpc (rpc_name) @name) @method
(field (identifier) @name) @field
(map_field (identifier) @name) @field
(oneof_field (identifier) @name) @field
(enum_field (identifier) @name) @constant
(import) @import
