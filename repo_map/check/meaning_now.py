"""What a name means in the tree after a change, where it meant a definition that is gone."""

from __future__ import annotations

import re
from typing import Final

from repo_map.check.bare_names import CLOSED, SCRIPTS, is_bound_in_script, is_given
from repo_map.check.occurrences import find_name
from repo_map.check.open_calls import is_object_of
from repo_map.impact.sides import Sides
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Place

_BEHIND: Final = re.compile(r"(?:(?<!\.\.)\.|::|->)\s*\Z")
_GIVEN: Final = re.compile(r"\s*(?:=(?!=)|:)")
"""What stands behind the name of a parameter that a value is given by, or a key."""
_OWN: Final = frozenset({"self", "this", "cls", "super()"})
_TYPE_PARAMETER: Final = r"[<,]\s*(?:const\s+|in\s+|out\s+)*{}\s*(?:=(?![=>])|extends\b|:)"


class MeaningNow:
    """Tells whether what named something that is gone names anything now."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before, sides.after

    def is_broken(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a site means nothing now; what is only declared counts for nothing."""
        name = self._before.name(gone)
        if site.name != name and name in re.findall(r"[\w$]+", site.object):
            # What is gone stands before the dot: a file may still have its name, by what hands it on.
            probe = Site(name, "", *site[2:])
            if self._after.relations.meaning(file, probe).targets:
                return False
        meaning = self._after.relations.meaning(file, site)
        if self._is_type_parameter(file, site.name) or (not site.object and self._is_bound(gone, file, site)):
            return False
        if meaning.targets:
            return all(map(self._after.is_declaration, meaning.targets)) and not self.has_body(gone)
        if meaning.is_external and self._leads_outside(gone, file, site):
            return False
        if site.object and (self._is_open_class(gone) or self._may_be_another(gone, file, site)):
            return False
        return not meaning.is_left_open and not self._is_given_on_access(gone)

    def is_unbound(self, file: int, name: str) -> bool:
        """Tell whether a bare name can mean nothing in a file, where its language says so.

        What means nothing is no site in every language.
        """
        if self._after.language(file) not in CLOSED or is_given(name, self._after.language(file)):
            return False
        if self._is_type_parameter(file, name):
            return False
        if self._after.language(file) in SCRIPTS and is_bound_in_script(self._after.index.text(file), name):
            return False
        view = self._after.index.derived(FileViews)[file]
        is_bound = any(each.name == name or each.kind == STAR for each in view.bindings)
        is_site = any(site.name == name and not site.object for site in view.sites)
        return not is_bound and not is_site and all(each.name != name for each in view.definitions)

    def lines_naming(self, file: int, name: str) -> set[int]:
        """Return the lines in which a name stands by itself, in code and behind no dot."""
        text = self._after.index.text(file)
        found = find_name(text, name, self._after.language(file))
        return {
            text.count("\n", 0, at) + 1
            for at in found
            if not _BEHIND.search(text, text.rfind("\n", 0, at) + 1, at)
            and (not _GIVEN.match(text, at + len(name)) or self._is_type_at(file, text, at))
        }

    def _is_type_at(self, file: int, text: str, at: int) -> bool:
        """Tell whether a name stands as a written type: ``const made: Maker = …``."""
        is_typed = self._after.language(file) in ("typescript", "tsx")
        return is_typed and text[at].isupper() and text[max(0, at - 2) : at].rstrip()[-1:] in (":", "|", "&")

    def has_body(self, gone: Place) -> bool:
        """Tell whether anything of the name still has a body in the tree."""
        return not all(map(self._after.is_declaration, self._after.namesakes(self._before.name(gone))))

    def is_local(self, file: int, row: int) -> bool:
        definitions = self._before.index.definitions(file)
        parent = definitions[row].parent
        while parent >= 0:
            if definitions[parent].kind in FUNCTIONS:
                return True
            parent = definitions[parent].parent
        return False

    def is_within(self, file: int, row: int, around: Place) -> bool:
        while row >= 0 and (file, row) != around:
            row = self._after.index.definitions(file)[row].parent
        return row >= 0

    def _is_type_parameter(self, file: int, name: str) -> bool:
        """Tell whether a file has type parameters of a name, which no language's facts all tell."""
        if self._after.language(file) == "python":
            return False
        written = _TYPE_PARAMETER.format(re.escape(name))
        return re.search(written, self._after.index.text(file)) is not None

    def _is_bound(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a function around a bare name binds it; few languages tell parameters as facts."""
        view = self._after.index.derived(FileViews)[file]
        if any(
            each.name == site.name and not self._sides.line_before(file, each.line) for each in view.bindings
        ):
            # What binds it was edited: that line says whether it is right.
            return True
        row = view.scope(site.definition)
        while row >= 0:
            inner = view.bound.get((row, site.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.line < site.line for each in inner):
                return True
            row = view.outer(row)
        taken = rf"\([^()]*(?<![\w.$]){re.escape(site.name)}\b[^()]*\)\s*(?:=>|\{{)"
        return self.is_local(*gone) and re.search(taken, self._after.index.text(file)) is not None

    def _may_be_another(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether an object is perhaps of another class now, so that a member of ours says nothing."""
        was = self._owner(gone)
        if was is None or site.object in _OWN:
            return False
        names = re.findall(r"[\w$]+", site.object)
        owner = self._sides.now(was)
        if owner is None:
            # With its class gone, what names the class is told, and no object of its name.
            is_class = self._before.name(was) in names
            return not is_class or self._is_bound(gone, file, Site(names[0], "", *site[2:]))
        index = self._after.index
        if is_object_of(self._after, file, site, owner):
            return False
        view = index.derived(FileViews)[file]
        around = view.scope(site.definition)
        return any(
            each.name in names[:1]
            and not self._sides.line_before(file, each.line)
            and view.scope(each.definition) in (around, -1)
            for each in view.bindings
        )

    def _owner(self, gone: Place) -> Place | None:
        """Return the class of a member in the tree before; in Go a method stands beside its type."""
        index, (file, row) = self._before.index, gone
        if (parent := index.definitions(file)[row].parent) >= 0:
            return file, parent
        name, folder = (
            index.qualified_name(file, row).rpartition(".")[0],
            index.paths[file].rpartition("/")[0],
        )
        return next(
            (
                place
                for place in self._before.namesakes(name)
                if index.definitions(place[0])[place[1]].kind in TYPES
                and index.paths[place[0]].rpartition("/")[0] == folder
            ),
            None,
        )

    def _is_given_on_access(self, gone: Place) -> bool:
        """Tell whether a module of Python's gives a name when it is asked for it."""
        name = self._before.name(gone)
        return any(
            re.search(rf"[\"']{re.escape(name)}[\"']", self._after.index.text(file)) is not None
            for file, row in self._after.namesakes("__getattr__")
            if self._after.index.definitions(file)[row].parent < 0
        )

    def _leads_outside(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a name is written to mean something of another package now, or of the language."""
        home = self._sides.file_after(gone[0])
        if home is None:
            return False
        views = self._after.index.derived(FileViews)
        if any(
            binding.name == site.name
            and binding.kind in (IMPORT, RENAMED)
            and not self._sides.line_before(each, binding.line)
            for each in (file, home)
            for binding in views[each].bindings
        ):
            return True
        if site.object:
            return False
        if self._after.language(file) == "java" and self._is_class(gone):
            # Without the import of a whole package, what is neither imported nor beside it is nothing.
            return any(binding.kind == STAR for binding in views[file].bindings)
        return self._after.language(file) not in CLOSED or is_given(site.name, self._after.language(file))

    def _is_class(self, place: Place) -> bool:
        return self._before.index.definitions(place[0])[place[1]].kind in TYPES

    def _is_open_class(self, gone: Place) -> bool:
        """Tell whether the class of a member that is gone may have it from elsewhere."""
        file, row = gone
        parent = self._before.index.definitions(file)[row].parent
        owner = self._sides.after_of.get((file, parent)) if parent >= 0 else None
        if owner is None:
            return False
        text = "\n".join(self._after.lines_of(owner, whole=True))
        name = self._before.name(gone)
        if re.search(
            r"__getattr|__call\b|method_missing|\bProxy\b|instance_variable|\bdefine_method\b", text
        ):
            return True
        # What it is given in another way, as a field or by an assignment.
        return (
            re.search(
                rf"(?:\.|@|\b(?:var|val|let|const|attr_\w+)\b.*){re.escape(name)}\s*(?::[^=]+)?(?:=[^=]|$)",
                text,
                re.M,
            )
            is not None
        )
