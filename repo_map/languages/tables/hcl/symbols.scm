(config_file (body (block . (identifier) @name . (string_lit)* @name (body)? @body) @module))
(config_file (body (block (body (attribute . (identifier) @name (expression) @body) @field))))
(config_file (body (block (body
        (block . (identifier) @name . (string_lit)* @name (body)? @body) @field))))
(config_file (body (attribute . (identifier) @name (expression) @body) @constant))
