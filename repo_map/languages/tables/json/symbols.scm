(document (object (pair key: (_) @name value: (_) @body) @key))
(document (object (pair value: (object (pair key: (_) @name value: (_) @body) @key))))
