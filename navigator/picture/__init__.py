"""The picture of a map: its data, its layout, and the files that show it."""
