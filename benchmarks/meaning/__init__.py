"""Trains and measures the embedding that ``repo_map.meaning`` ships; needs torch, the product does not."""
