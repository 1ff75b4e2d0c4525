(document (block_node (block_mapping
  (block_mapping_pair key: (_) @name value: (_)? @body) @key)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair key: (_) @name value: (_)? @body) @key))))))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair value: (block_node (block_mapping
    (block_mapping_pair key: (_) @name value: (_)? @body) @key)))))))))
