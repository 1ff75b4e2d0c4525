"""From an index and a plan to the text of a map that fits its budget."""

from repo_map.drawing.cuts import Cut
from repo_map.drawing.draw import MapFile, RepoMap, draw_map

__all__ = ["Cut", "MapFile", "RepoMap", "draw_map"]
