"""The sites and bindings of an index as columns, unpacked."""

from __future__ import annotations

from typing import NamedTuple

from repo_map.index.fact_packing import Lists, Packed, unpack
from repo_map.index.schema import Facts, Int8, Int32, Int64


class Sites(NamedTuple):
    """One row per use of a name, grouped by file, by line (``parsing.facts_model.Site``)."""

    file_start: Int64
    name: Int32
    """Id in ``strings``."""
    receiver: Int32
    """Id in ``expressions``."""
    definition: Int32
    """Row of ``symbols`` within the file, -1 at the top."""
    line: Int32
    kind: Int8
    indent: Int8


class Bindings(NamedTuple):
    """One row per binding of a name, grouped by file, by line (``parsing.facts_model.Binding``)."""

    file_start: Int64
    name: Int32
    """Id in ``strings``."""
    value: Int32
    """Id in ``expressions``."""
    definition: Int32
    """Row of ``symbols`` within the file, -1 at the top."""
    line: Int32
    kind: Int8
    indent: Int8


def sites_of(facts: Facts) -> Sites:
    """Return the sites of all files."""
    return Sites(*unpack(Packed(facts.site_start, facts.site), *_lists(facts)))


def bindings_of(facts: Facts) -> Bindings:
    """Return the bindings of all files."""
    return Bindings(*unpack(Packed(facts.binding_start, facts.binding), *_lists(facts)))


def _lists(facts: Facts) -> tuple[Lists, Lists]:
    return Lists(facts.name_start, facts.name), Lists(facts.text_start, facts.text)
