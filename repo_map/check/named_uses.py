"""What still uses a name that is gone, by the name alone: nothing else bears it, or it is in its class."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from repo_map.check.bare_names import SCRIPTS, is_bound_in_script, is_given, is_module
from repo_map.check.occurrences import find_name
from repo_map.check.open_calls import files_naming, is_object_of, may_be_of, nearest
from repo_map.impact.sides import Side
from repo_map.impact.values import GoneName
from repo_map.languages.kinds import FUNCTIONS, TEXT
from repo_map.languages.registry import kin_of, language_of
from repo_map.messages import first_three, one_line, plural
from repo_map.parsing.facts_model import (
    ASSIGNED,
    DECLARED,
    FIELD,
    FIELD_TYPE,
    IMPORT,
    NARROWED,
    RENAMED,
    VALUE,
    Site,
)
from repo_map.relations.file_facts import FileViews, sites_at
from repo_map.relations.text_search import row_at

_LEAST: Final = 3
"""Letters of a name that says something by itself."""
_MOST_SITES: Final = 500
"""Uses of a name that is gone; of one that stands more often only the number is told."""
_OWN_RECEIVERS: Final = frozenset({"self", "this", "cls"})
_TELLING: Final = re.compile(r"\w_\w|[a-z][A-Z]")
"""What a name has that is hardly one of a library's by chance."""
_EXPORTS: Final = frozenset({"exports", "module.exports"})
_RECEIVER = re.compile(r"([\w.]*)[!?]?(?:\.|->|::)\s*[@$#]*\Z")
_LONGEST_RECEIVER: Final = 120
_KEY: Final = re.compile(r"\s*(?::(?!:)|=(?![=>])|[,}])")
_LOCAL: Final = frozenset({ASSIGNED, DECLARED, NARROWED})
_IMPORTS: Final = frozenset({IMPORT, RENAMED})
_IMPLICIT: Final = frozenset(
    {"java", "kotlin", "csharp", "cpp", "scala", "swift", "groovy", "php", "ruby", "c"}
)
"""Languages in which members stand by themselves."""
_PROVIDED: Final = (
    r"(?:\b(?:self|this|cls)\.|[@$])?(?<![\w.]){0}\s*(?::[^=\n]*)?=(?![=>~])|(?m:(?:^|[{{,(])\s*{0}\s*:)"
)
"""What gives a name to something, where no fact of its language tells."""


class NamedUse(NamedTuple):
    """Where a name that is gone still stands."""

    file: int
    row: int
    """Of the innermost definition around it, -1 at the top."""
    line: int
    """1-based."""
    receiver: str | None
    """What stands before its dot; None where no dot does."""
    is_key: bool
    """Whether what stands behind it leaves room for the name of a member that a value is given to."""


class NamedUses:
    """The uses of one name in the tree after the change, comments and strings aside."""

    def __init__(
        self,
        side: Side,
        gone: GoneName,
        told: Collection[tuple[int, int]],
        *,
        is_function: bool,
        is_own: bool = False,
    ) -> None:
        """Look beside what is told, by file and line; for a function that relations know, in its class.

        No other file sees what ``is_own``.
        """
        self._is_own = is_own
        self._told = told
        self._side, self._index, self._gone = side, side.index, gone
        self._views = side.index.derived(FileViews)
        self._home = side.index.file_id(gone.path)
        self._family = kin_of(language_of(gone.path) if self._home is None else side.language(self._home))
        self._is_function = is_function
        self._bound: dict[int, bool] = {}
        self.uses: list[NamedUse] = []
        self.unclear = ""
        """How often it stands where nothing written says what it means, in a sentence; ``""`` for never."""
        self._run()

    def _run(self) -> None:
        counts = self._counts()
        if sum(counts.values()) > _MOST_SITES:
            self._leave_open(sum(counts.values()))
            return
        unclear: list[NamedUse] = []
        is_provided = bool(counts) and self._is_provided(list(counts))
        for file in sorted(counts):
            found = [
                each
                for each in self._uses_in(file)
                if (file, each.line) not in self._told and self._may_mean_it(each)
            ]
            imports = self._imported(file, found)
            told = []
            for each in found:
                if each in imports:
                    continue
                if self._is_meant(each, is_provided=is_provided):
                    told.append(each)
                elif not self._is_function or is_provided or self._is_member(each):
                    unclear.append(each)
            # An import breaks as well; where the name is used besides, the use says so.
            self.uses += told or ([] if is_provided else imports)
        if unclear:
            self._leave_open(len(unclear), unclear)

    def _is_meant(self, use: NamedUse, *, is_provided: bool) -> bool:
        """Tell whether a use is likely one of what is gone; of the others the number is told."""
        if self._is_near(use) or self._is_on_owner(use):
            return True
        if is_provided or self._is_of_another(use):
            return False
        return self._is_own_method(use) if self._is_function else self._is_reached(use.file)

    def _leave_open(self, times: int, uses: Sequence[NamedUse] = ()) -> None:
        near = nearest(self._side, self._home, dict.fromkeys((each.file, each.line) for each in uses))
        where = f" ({first_three(near)})" if near else ""
        self.unclear = (
            f"`{one_line(self._gone.name)}` also stands in {plural(times, 'further place')}{where}; nothing "
            "written there says whether what is gone is meant, so look through them."
        )

    def _counts(self) -> dict[int, int]:
        """Return how often each file of the kin bears the name, its definitions aside."""
        name = self._gone.name.lstrip("@$#")
        if not self._family or len(self._gone.name) < _LEAST:
            return {}
        counts = files_naming(self._index, name)
        return {
            file: count
            for file, count in counts.items()
            if kin_of(self._side.language(file)) == self._family and (file == self._home or not self._is_own)
        }

    def _is_provided(self, files: list[int]) -> bool:
        """Tell whether anything of the kin gives the name to something, imports aside."""
        index, table = self._index, self._index.bindings
        for file, row in self._side.namesakes(self._gone.name):
            if (
                kin_of(self._side.language(file)) == self._family
                and index.definitions(file)[row].kind not in TEXT
            ):
                return True
        rows = np.flatnonzero(table.name == index.strings.get(self._gone.name))
        for row in rows[np.isin(table.kind[rows], (ASSIGNED, DECLARED, FIELD, FIELD_TYPE))].tolist():
            file = int(np.searchsorted(table.file_start, row, side="right")) - 1
            scope = self._views[file].scope(int(table.definition[row]))
            is_local = scope >= 0 and index.definitions(file)[scope].kind in FUNCTIONS
            if not is_local or int(table.kind[row]) in (FIELD, FIELD_TYPE):
                return True
        written = re.compile(_PROVIDED.format(re.escape(self._gone.name.lstrip("@$#"))))
        return any(written.search(index.text(file)) for file in files)

    def _uses_in(self, file: int) -> Iterator[NamedUse]:
        index = self._index
        text = index.text(file)
        bare = self._gone.name.lstrip("@$#")
        starts = [at for at, letter in enumerate(text) if letter == "\n"]
        defined = {each.sig_start for each in index.definitions(file) if each.name.rpartition(".")[2] == bare}
        for at in find_name(text, self._gone.name, self._side.language(file)):
            line = bisect_right(starts, at - 1) + 1
            if line in defined:
                defined.discard(line)
                continue
            before = _RECEIVER.search(text, max(0, at - _LONGEST_RECEIVER), at)
            receiver = None if before is None else before[1]
            is_key = _KEY.match(text, at + len(bare)) is not None
            yield NamedUse(file, row_at(index, file, line), line, receiver, is_key=is_key)

    def _may_mean_it(self, use: NamedUse) -> bool:
        """Tell whether nothing that is written says that a use means something else."""
        relations, sites = self._side.relations, self._sites(use)
        meanings = [relations.meaning(use.file, each) for each in sites]
        if not sites and relations.knows(use.file):
            site = Site(self._gone.name, use.receiver or "", use.row, use.line, VALUE, 0)
            # Fields that are only read are no sites, and most families know nothing of them.
            meaning = relations.meaning(use.file, site)
            meanings = [meaning if use.receiver is None else meaning._replace(is_external=False)]
        if any(each.targets for each in meanings):
            return False
        if any(each.is_external for each in meanings):
            return self._is_on_owner(use)
        if self._side.language(use.file) in SCRIPTS and self._is_of_script(use):
            return False
        return use.receiver is not None or not (self._is_local(use) or self._is_no_member(use))

    def _is_on_owner(self, use: NamedUse) -> bool:
        """Tell whether a use is of an object of the class that had the name, whatever that extends."""
        owners = [
            place
            for place in self._side.namesakes(self._gone.owner.rpartition(".")[2])
            if place[0] == self._home and self._index.qualified_name(*place) == self._gone.owner
        ]
        return use.receiver not in (None, "super") and any(
            is_object_of(self._side, use.file, site, owner)
            for site in self._sites(use)[:1]
            for owner in owners[:1]
        )

    def _is_of_script(self, use: NamedUse) -> bool:
        """Tell whether a name in a script is bound there, or one of the platform's."""
        language, name = self._side.language(use.file), self._gone.name
        if use.receiver is None:
            is_elsewhere = not self._gone.owner and use.file != self._home and self._is_of_module
            return is_elsewhere or is_given(name, language) or self._is_bound_in(use.file)
        root = use.receiver.partition(".")[0]
        if not root or root in (*_OWN_RECEIVERS, "exports", "module"):
            return False
        if not self._gone.owner and (-1, root) not in self._views[use.file].bound:
            # What stands at the top of a file is reached through what an import binds.
            return True
        return is_given(root, language) and not is_bound_in_script(self._index.text(use.file), root)

    @cached_property
    def _is_of_module(self) -> bool:
        """Tell whether what is gone stood in a module: others then see it through what they bind."""
        return self._home is not None and is_module(self._index.text(self._home))

    def _is_no_member(self, use: NamedUse) -> bool:
        """Tell whether a name by itself stands where no member of a class is meant."""
        owner, language = self._gone.owner, self._side.language(use.file)
        if (
            not owner
            or self._is_of_namespace
            or language in _IMPLICIT
            or self._gone.name.startswith(("@", "$"))
        ):
            return False
        if use.row < 0:
            return not use.is_key and self._gone.name[:1].islower()
        around = self._index.definitions(use.file)[use.row]
        is_parameter = around.kind in FUNCTIONS and around.sig_start <= use.line <= around.sig_end
        is_in_class = self._index.qualified_name(use.file, use.row) == owner
        return (is_parameter or not use.is_key) and not is_in_class and self._gone.name[:1].islower()

    def _is_member(self, use: NamedUse) -> bool:
        """Tell whether a use may be one of a method, on what nothing resolves."""
        owner, language = self._gone.owner, self._side.language(use.file)
        if use.receiver is None or not may_be_of(use.receiver, owner, language):
            return False
        is_of_class = bool(owner) and not self._is_of_namespace
        return is_of_class or self._is_reached(use.file)

    def _is_of_another(self, use: NamedUse) -> bool:
        """Tell whether what stands before the dot names another class than the one that had the name."""
        owner, language = self._gone.owner, self._side.language(use.file)
        if not owner or not use.receiver or use.receiver in _OWN_RECEIVERS:
            return False
        return not may_be_of(use.receiver, owner, language)

    def _is_own_method(self, use: NamedUse) -> bool:
        """Tell whether a use is of a method, in the file that had it, by a name that nothing else bears."""
        is_told = (
            self._is_function and use.file == self._home and _TELLING.search(self._gone.name) is not None
        )
        return is_told and bool(self._gone.owner) and not self._is_of_namespace and self._is_member(use)

    def _is_near(self, use: NamedUse) -> bool:
        """Tell whether a use stands where what is gone was to be seen without more."""
        owner, language = self._gone.owner, self._side.language(use.file)
        if self._is_of_namespace:
            owner = ""
        if not owner and use.receiver in _EXPORTS and language in SCRIPTS:
            return use.file == self._home
        if not owner and use.receiver in _OWN_RECEIVERS:
            return self._is_function and use.file == self._home
        if not owner:
            is_bare = use.receiver is None or use.receiver == self._module
            return is_bare and self._is_reached(use.file) and not self._is_bound_in(use.file)
        if use.receiver is None and language not in _IMPLICIT and not self._gone.name.startswith(("@", "$")):
            return False
        if use.receiver is not None and use.receiver not in _OWN_RECEIVERS:
            return False
        at = use.row
        while at >= 0:
            if use.file == self._home and self._index.qualified_name(use.file, at) == owner:
                return True
            at = self._index.definitions(use.file)[at].parent
        return False

    @cached_property
    def _is_of_namespace(self) -> bool:
        """Tell whether what is gone stood in a namespace, and in no class."""
        kinds = {
            self._index.definitions(file)[row].kind
            for file, row in self._side.namesakes(self._gone.owner.rpartition(".")[2])
            if kin_of(self._side.language(file)) == self._family
        }
        return bool(kinds) and kinds <= {"namespace", "module"}

    def _is_bound_in(self, file: int) -> bool:
        """Tell whether a file binds the bare name, in a scope of its own perhaps."""
        if file not in self._bound:
            name, text = self._gone.name.lstrip("@$#"), self._index.text(file)
            self._bound[file] = (
                is_bound_in_script(text, name)
                if self._side.language(file) in SCRIPTS
                else re.search(_PROVIDED.format(re.escape(name)), text) is not None
            )
        return self._bound[file]

    @cached_property
    def _module(self) -> str | None:
        """What Rust calls the file that had the name."""
        folder, _, name = self._gone.path.rpartition("/")
        if not name.endswith(".rs"):
            return None
        return folder.rpartition("/")[2] if name == "mod.rs" else name.removesuffix(".rs")

    def _is_reached(self, file: int) -> bool:
        """Tell whether a file sees the one that had the name: it is that, imports it, or stands beside it."""
        if self._home is None:
            return False
        if self._family == "ruby" and self._gone.name[:1].isupper():
            # Whatever is loaded sees all constants.
            return True
        beside = self._side.language(file) in ("go", "java", "kotlin", "csharp") and _folder(
            self._index.paths[file]
        ) == _folder(self._gone.path)
        return file == self._home or beside or file in self._importers

    @cached_property
    def _importers(self) -> frozenset[int]:
        home = self._home
        importers = () if home is None else self._side.relations.importers_of(home)
        return frozenset(each.source[0] for each in importers)

    def _sites(self, use: NamedUse) -> list[Site]:
        """Return what is known as a use of the name in a line."""
        table, number = self._index.sites, self._index.strings.get(self._gone.name)
        start, end = int(table.file_start[use.file]), int(table.file_start[use.file + 1])
        here = (table.name[start:end] == number) & (table.line[start:end] == use.line)
        return sites_at(self._index, start + np.flatnonzero(here))

    def _is_local(self, use: NamedUse) -> bool:
        """Tell whether a name by itself is one of the function's around it."""
        view = self._views[use.file]
        row = view.scope(use.row)
        while row >= 0:
            bound = view.bound.get((row, self._gone.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.kind in _LOCAL for each in bound):
                return True
            row = view.outer(row)
        return False

    def _imported(self, file: int, uses: list[NamedUse]) -> list[NamedUse]:
        """Return those of the uses that are imports: the first from where each import begins."""
        name = self._gone.name
        lines = [
            each.line for each in self._views[file].bindings if each.kind in _IMPORTS and each.name == name
        ]
        firsts = {min((use.line for use in uses if use.line >= line), default=0) for line in lines}
        return [use for use in uses if use.line in firsts and not self._sites(use)]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
