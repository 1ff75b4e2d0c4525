(rule_set (selectors) @name (block) @body) @rule
(media_statement "@media" @name (_)* @name (block) @body) @rule
(supports_statement "@supports" @name (_)* @name (block) @body) @rule
(keyframes_statement "@keyframes" @name (keyframes_name) @name (keyframe_block_list) @body) @rule
(at_rule (at_keyword) @name (_)* @name (block)? @body) @rule
((declaration (property_name) @name) @constant (#match? @name "^--"))
(import_statement) @import
