(table . (_) @name . "]" @head) @table
(table_array_element . (_) @name . "]]" @head) @table
(pair . (_) @name . (_) @body) @key
