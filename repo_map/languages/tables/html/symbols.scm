(element (start_tag (tag_name) @name (attribute (attribute_name) @callee
  (quoted_attribute_value (attribute_value) @name)) (#eq? @callee "id")) @head) @element
(element (start_tag (tag_name) @callee (#match? @callee "^[hH][1-6]$")) @head) @heading
(element (start_tag (tag_name) @name (#match? @name "^(head|body|header|footer|main|nav|form|template)$")) @head) @element
(script_element (start_tag (tag_name) @name) @head) @element
(style_element (start_tag (tag_name) @name) @head) @element
