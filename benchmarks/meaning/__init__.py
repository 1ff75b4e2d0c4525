"""An embedding of our own for goals and code: its data, training and measures; no part of the product yet."""
