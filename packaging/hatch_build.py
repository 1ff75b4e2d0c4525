"""Build hook of wheels: add the picture's page, built from its sources, in their place."""

from __future__ import annotations

import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PICTURE = "navigator/picture"


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page beside the tree, which may be read-only."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; an editable installation builds its own when it is first shown."""
        self._folder = tempfile.mkdtemp(prefix="picture-page-")
        if version == "editable":
            return
        picture = Path(self.root, PICTURE)
        build_page = runpy.run_path(str(picture / "page_builder.py"))["build_page"]
        page = Path(self._folder, "page.html")
        page.write_text(build_page(picture / "page"), encoding="utf-8")
        build_data["force_include"][str(page)] = f"{PICTURE}/page.html"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built beside the tree."""
        shutil.rmtree(self._folder)
