"""From an index and a plan to the text of a map that fits its budget."""
