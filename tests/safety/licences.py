"""The licences of the packages that the product needs."""

from __future__ import annotations

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, distribution
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = "repo-navigator"
_COPYLEFT = re.compile(r"\b(?:A?GPL|LGPL|EUPL|SSPL|CC-BY-SA|GNU|Affero)\b", re.IGNORECASE)


class Package(NamedTuple):
    """One installed package that the product needs at run time."""

    name: str
    version: str
    licence: str

    @property
    def is_copyleft(self) -> bool:
        """Whether its licence would reach the product's own code."""
        choices = re.split(r"\s+OR\s+|;", self.licence)
        return all(_COPYLEFT.search(choice) for choice in choices)


def needed(root: str = ROOT) -> list[Package]:
    """Return every package that ``root`` needs, without extras, by name."""
    found: dict[str, Package] = {}
    pending = [root]
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in found:
            continue
        try:
            each = distribution(name)
        except PackageNotFoundError:
            continue  # Needed on another platform only.
        found[name] = Package(name, each.version, _licence(each.metadata))
        for line in each.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)
    return sorted(package for name, package in found.items() if name != root)


def _licence(metadata: PackageMetadata) -> str:
    expression = next(iter(metadata.get_all("License-Expression") or ()), "")
    if expression:
        return str(expression)
    named = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License ::") and classifier != "License :: OSI Approved"
    ]
    written = str(next(iter(metadata.get_all("License") or ()), "")).strip().partition("\n")[0]
    return "; ".join(named) or written[:60] or "unknown"
