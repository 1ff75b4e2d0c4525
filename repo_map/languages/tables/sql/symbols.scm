(create_table (object_reference) @name (column_definitions) @body) @table
(create_table (object_reference) @name) @table
(create_view (object_reference) @name (create_query) @body) @table
(create_materialized_view (object_reference) @name) @table
(column_definition name: (_) @name) @field
(create_function (object_reference) @name (function_body) @body) @function
(create_procedure . (_) . (_) . (object_reference) @name) @function
(create_procedure (object_reference) @name (procedure_body) @body) @function
(create_trigger . (_) . (_) . (object_reference) @name) @function
(create_type (object_reference) @name) @type
(create_index column: (_) @name) @key
(create_schema (identifier) @name) @module
