"""The page of the map: its sources, and what makes one file of them."""
