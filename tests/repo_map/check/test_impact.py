"""What a change touches, from a patch or from git to sentences and scores, on small real repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from repo_map.check.check import check_changes
from repo_map.check.git_diff import ChangesError, read_changes
from repo_map.check.impact import boost_changed, find_impact
from repo_map.check.model import Changes
from repo_map.check.patch import MAX_FILES, read_patch
from repo_map.check.report import describe_changes
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.ranking.score import score_goal
from tests.support.secrets import KINDS
from tests.support.trees import commit, git, write

PRICE = '''"""Prices."""


def net(amount):
    """Return the amount without tax."""
    rate = 1.2
    return amount / rate


def gross(amount):
    return amount * 1.2


class Basket:
    def total(self):
        return sum(self.items)
'''
CART = """from price import Basket, gross, net


def checkout(items):
    return [net(item) for item in items]


def receipt(items):
    return [gross(item) for item in items]


class GiftBasket(Basket):
    def total(self):
        return 0
"""
TEST = "from price import net\n\n\ndef test_net():\n    assert net(12) == 10\n"
FILES = {"price.py": PRICE, "cart.py": CART, "tests/test_price.py": TEST, "notes.md": "# Notes\n"}
EDIT = """--- a/price.py
+++ b/price.py
@@ -3,5 +3,5 @@

 def net(amount):
     \"\"\"Return the amount without tax.\"\"\"
-    rate = 1.2
+    rate = 1.25
     return amount / rate
"""


def index_of(root: Path) -> Index:
    return build_index(root, store=Store(None), workers=1)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return commit(tmp_path / "shop", FILES)


def checked(index: Index, change: str) -> Changes:
    """Return the changes of a patch, or of revisions by their name."""
    patch = read_patch(change) if "\n" in change else read_changes(index, change)[1]
    return check_changes(index, patch).changes


def described(index: Index, change: str) -> tuple[str, ...]:
    changes = checked(index, change)
    return describe_changes(index, find_impact(index, changes), changes)


def names(index: Index, change: str) -> list[str]:
    return [part.name for part in checked(index, change).parts]


def one(sentences: Sequence[str], head: str) -> str:
    (found,) = [each for each in sentences if each.startswith(head)]
    return found


def test_changes_report_callers_tests_and_untested_functions(shop: Path) -> None:
    sentences = described(index_of(shop), EDIT)
    assert one(sentences, "Changed") == "Changed: `net` (price.py:4)."
    assert one(sentences, "Called") == "Called from outside the change: `checkout` (cart.py:5) for `net`."
    assert one(sentences, "Reached") == "Reached by tests: `test_net` (tests/test_price.py:5) for `net`."
    write(shop, {"price.py": PRICE.replace("amount * 1.2", "amount * 2")})
    untested = one(described(index_of(shop), "worktree"), "No test was found")
    assert "that reaches `gross` (price.py:10)" in untested


def test_patch_reports_the_same_before_and_after_it_is_applied(shop: Path) -> None:
    before = described(index_of(shop), EDIT)
    write(shop, {"price.py": PRICE.replace("rate = 1.2", "rate = 1.25")})
    assert described(index_of(shop), EDIT) == before


def test_patch_is_located_where_its_lines_moved(shop: Path) -> None:
    write(shop, {"price.py": "import os\n" * 40 + PRICE})
    assert names(index_of(shop), EDIT) == ["net"]


def test_patch_that_does_not_apply_is_reported(shop: Path) -> None:
    patch = "--- a/price.py\n+++ b/price.py\n@@ -90 +90 @@ def gross(amount):\n-    four = five(six)\n+    four = 4\n"
    report = check_changes(index_of(shop), read_patch(patch))
    (sentence,) = report.changes.notes
    assert "does not apply" in sentence
    assert "`price.py`" in sentence
    assert not report.complete
    assert not report.findings


def test_uses_of_a_renamed_function_come_first(shop: Path) -> None:
    write(shop, {"price.py": PRICE.replace("def gross", "def with_tax")})
    sentences = described(index_of(shop), "worktree")
    assert sentences[:2] == (
        "cart.py:1: `gross` is now `with_tax` (also line 9); use `with_tax`.",
        "Removed: `gross` (price.py, now `with_tax`).",
    )


def test_deleted_and_renamed_files_are_followed(shop: Path) -> None:
    git(shop, "mv", "price.py", "prices.py")
    assert one(described(index_of(shop), "worktree"), "Renamed") == "Renamed: `price.py to prices.py`."
    (shop / "prices.py").unlink()
    sentences = described(index_of(shop), "worktree")
    assert "`net` (price.py)" in one(sentences, "Removed")
    assert sentences[0] == "cart.py:1: it imports price.py, which was removed; remove the import."
    assert one(sentences, "Deleted") == "Deleted: `price.py`."


def test_revisions_mean_what_they_mean_to_git(shop: Path) -> None:
    commit(shop, {"price.py": PRICE.replace("rate = 1.2", "rate = 1.25")})
    write(shop, {"cart.py": CART.replace("return 0", "return 1")})
    index = index_of(shop)
    parts = {
        "worktree": ["GiftBasket.total"],
        "HEAD": ["GiftBasket.total"],
        "HEAD~1": ["GiftBasket.total", "net"],
        "HEAD~1..HEAD": ["net"],
        "HEAD~1...HEAD": ["net"],
    }
    assert {named: names(index, named) for named in parts} == parts


def test_changes_of_a_subfolder_exclude_its_siblings(shop: Path) -> None:
    commit(shop, {"inner/part.py": "def one():\n    return 1\n"})
    write(shop, {"inner/part.py": "def one():\n    return 2\n", "price.py": ""})
    index = index_of(shop / "inner")
    assert names(index, "HEAD") == ["one"]
    patch = "--- a/inner/part.py\n+++ b/inner/part.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"
    assert names(index, patch) == ["one"]


@pytest.mark.parametrize(
    "named", ["-O/tmp/x", "--output=x", "HEAD:price.py", "HEAD^{/x}", ":/first", "a b", "nowhere"]
)
def test_options_searches_and_unknown_commits_are_refused(shop: Path, named: str) -> None:
    with pytest.raises(ChangesError):
        read_changes(index_of(shop), named)


def test_missing_git_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChangesError):
        read_changes(index_of(write(tmp_path / "plain", FILES)), "worktree")


def test_read_changes_runs_no_filter(shop: Path, tmp_path: Path) -> None:
    git(shop, "config", "filter.spy.clean", f"touch {tmp_path / 'ran'}; cat")
    write(shop, {".gitattributes": "* filter=spy\n", "price.py": PRICE + "\n\nX = 1\n"})
    described(index_of(shop), "worktree")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "price.py/../../x", "\x00", "a" * 9_000, "elsewhere.py"]
)
def test_patch_of_missing_files_opens_nothing(shop: Path, path: str) -> None:
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one\n+two\n"
    sentences = described(index_of(shop), patch)
    assert len(sentences) <= 1
    assert all(each.startswith("Not in this repository") for each in sentences)


def test_unreadable_patches_are_noted(shop: Path) -> None:
    index = index_of(shop)
    binary = (
        "diff --git a/x.png b/x.png\nindex 1234567..89abcde 100644\nBinary files a/x.png and b/x.png differ\n"
    )
    assert described(index, binary) == ("Binary, or not read, so not followed: `x.png`.",)
    assert described(index, "diff --cc price.py\nindex 12345,6789a..bcdef\n")[0].startswith(
        "A merge was not read"
    )
    many = "".join(f"--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-x\n+y\n" for n in range(MAX_FILES + 9))
    assert "has more than" in described(index, many)[0]
    assert "as far as its first" in " ".join(described(index, EDIT + "-" * 1_100_000))


def test_read_patch_removes_a_fenced_patch() -> None:
    text = f"Is this right?\n\n```diff\n{EDIT}```\n\nThe tax is 25 % now.\n\n```\ncode\n```\n"
    found = read_patch(text)
    assert [each.path for each in found.files] == ["price.py"]
    assert found.rest.split("\n") == [
        *("Is this right?", "", "", "The tax is 25 % now.", "", "```", "code", "```", ""),
    ]


def test_read_patch_counts_the_lines_of_a_hunk() -> None:
    patch = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n-++ b\n+++ new comment\n+++ c\n"
    (found,) = read_patch(patch).files
    assert found.path == "q.sql"
    assert found.hunks[0].marked("-") == ("-- old comment", "++ b")


def test_boost_ranks_changed_code_then_its_dependents(shop: Path) -> None:
    index = index_of(shop)
    changes = checked(index, EDIT)
    goal = score_goal(index, "the total of the receipt")
    raised = boost_changed(index, goal, find_impact(index, changes), changes)
    assert (raised.units[0].name, raised.units[0].reasons[0]) == ("net", "changed")
    (caller,) = [unit for unit in raised.units if unit.name == "checkout"]
    assert caller.reasons[0] == "uses changed `net` (line 5)"
    assert raised.files[0].path == "price.py"


def test_changes_hold_no_secret_of_a_removed_line(shop: Path) -> None:
    secret = KINDS["GitHub token"]
    commit(shop, {"keys.py": f'KEY = "{secret}"\n\n\ndef key():\n    return "{secret}"\n'})
    write(shop, {"keys.py": "KEY = 1\n\n\ndef key():\n    return KEY\n"})
    index = index_of(shop)
    for named in ("worktree", "HEAD~1..HEAD"):
        changes = checked(index, named)
        assert changes.words
        assert secret not in str(changes)


def test_new_test_of_the_change_is_reported(shop: Path) -> None:
    shout = "\n\ndef shout(text):\n    return text.upper()\n"
    test = "from price import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A'\n"
    write(shop, {"price.py": PRICE + shout, "tests/test_shout.py": test})
    sentences = described(index_of(shop), "worktree")
    assert one(sentences, "Reached by tests of the change itself") == (
        "Reached by tests of the change itself: `test_shout` (tests/test_shout.py:5) for `shout`."
    )
    assert not any(each.startswith("No test") for each in sentences)


def test_insignificant_whitespace_is_no_change(tmp_path: Path) -> None:
    go = 'package a\n\nconst (\n\tA = "a  b"\n\tB = "b"\n)\n'
    root = commit(
        tmp_path / "spaces", {"a.go": go, "b.py": "def f():\n    if x:\n        y = 1\n    z = 2\n"}
    )
    spaced = go.replace("A =", "A    =").replace("B =", "B    =").replace('"b"\n', '"b"\n\tLonger = "c"\n')
    write(root, {"a.go": spaced, "b.py": "def f():\n    if x:\n        y = 1\n        z = 2\n"})
    sentences = described(index_of(root), "worktree")
    assert one(sentences, "Changed") == "Changed: `Longer` (a.go:6), `f` (b.py:1)."


def test_commit_means_changes_since_the_merge_base(shop: Path) -> None:
    git(shop, "branch", "mine")
    commit(shop, {"stock.py": "def counted():\n    return 1\n"}, message="Go on")
    git(shop, "checkout", "-q", "mine")
    commit(shop, {"price.py": PRICE.replace("rate = 1.2", "rate = 1.3")}, message="Change net")
    write(shop, {"notes.md": "# Other notes\n"})
    index = index_of(shop)
    since_base = described(index, "main")
    assert since_base == described(index, "HEAD~1")
    assert one(since_base, "Changed") == "Changed: `net` (price.py:4)."
    assert ["stock.py" in " ".join(described(index, f"main{dots}HEAD")) for dots in ("..", "...")] == [
        True,
        False,
    ]


def test_shallow_clone_is_an_error_with_advice(shop: Path, tmp_path: Path) -> None:
    git(shop, "branch", "mine")
    commit(shop, {"stock.py": "N = 1\n"}, message="Go on")
    git(shop, "checkout", "-q", "mine")
    commit(shop, {"price.py": PRICE.replace("rate = 1.2", "rate = 1.3")}, message="Change net")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{shop}", str(clone))
    with pytest.raises(ChangesError, match="fetch-depth: 0"):
        read_changes(index_of(clone), "origin/main")


def test_unchanged_links_and_hidden_files_are_no_change(shop: Path) -> None:
    large, key = "x" * 2_000_000, "-----BEGIN PRIVATE KEY-----\n"
    (shop / "linked.py").symlink_to("price.py")
    commit(shop, {"logo.svg": large, "server.key": key})
    assert read_changes(index_of(shop), "worktree")[1].files == ()
    write(shop, {"logo.svg": large + "x", "server.key": key + "x"})
    files = read_changes(index_of(shop), "worktree")[1].files
    assert [(each.old, each.is_binary) for each in files] == [("logo.svg", True), ("server.key", False)]
