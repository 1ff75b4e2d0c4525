"""Work trees of tasks: the exact commit, with a history that ends there, made from a local mirror."""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from benchmarks.git import git_command, lend, run_git
from repo_map.errors import RepoMapError
from repo_map.sources.git import GitError, git_environment

_AS_STORED = (
    *("-c", "core.autocrlf=false"),
    *("-c", "filter.lfs.smudge="),
    *("-c", "filter.lfs.process="),
    *("-c", "filter.lfs.required=false"),
)


class MirrorNotFoundError(RepoMapError):
    """No mirror of a repository is in the folder of mirrors; the message names what was looked for."""


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name the folder of mirrors and the folder of work trees."""
    parser.add_argument(
        "--mirrors", type=Path, default=_folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=_folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None


def materialise(repo: str, commit: str, mirrors: Path, trees: Path) -> Path:
    """Return the work tree of ``repo`` at ``commit``, made under ``trees`` if it is not there yet.

    Its objects stay in the mirror (git's alternates); its only ref is the commit, so history holds ancestors
    alone.
    """
    tree = tree_of(repo, commit, trees)
    done = tree.with_name(tree.name + ".done")
    if not done.exists():
        check_out(find_mirror(repo, mirrors) / "objects", commit, tree)
        done.touch()
    for objects in _alternates(tree).read_text().splitlines():
        lend(Path(objects))
    return tree


def tree_of(repo: str, commit: str, trees: Path) -> Path:
    """Return where the work tree of a commit lies, or would."""
    return trees.resolve() / repo.replace("/", "__") / commit[:12]


def check_out(objects: Path, commit: str, tree: Path) -> None:
    """Make ``tree`` a work tree of ``commit``, whose objects stay in the folder ``objects``."""
    tree.mkdir(parents=True, exist_ok=True)
    run_git(tree, "init", "-q", ".")
    _alternates(tree).write_text(f"{objects}\n")
    run_git(tree, "update-ref", "HEAD", commit)
    run_git(tree, *_AS_STORED, "read-tree", commit)
    # A mirror may lack large blobs; the rest of the tree is checked out all the same.
    command = git_command(tree, *_AS_STORED, "checkout-index", "-a", "-f", "-q")
    subprocess.run(command, env=git_environment(), capture_output=True, check=False)


def _alternates(tree: Path) -> Path:
    return tree / ".git" / "objects" / "info" / "alternates"


def find_mirror(repo: str, mirrors: Path) -> Path:
    """Return the git folder of ``repo`` in ``mirrors``.

    Known layouts of ``owner/name``: ``owner+name``, ``owner__name`` and the ``swe-bench`` organisation's
    ``swe-bench+owner__name``; inside, the git folder itself, ``repo`` or ``.git``.
    """
    plain, joined = repo.replace("/", "+").lower(), repo.replace("/", "__").lower()
    wanted = (plain, joined, f"swe-bench+{joined}")
    folders = {folder.name.lower(): folder for folder in mirrors.iterdir() if folder.is_dir()}
    for name in wanted:
        for inner in ("repo/.git", "repo", ".git", "."):
            if name in folders and (folders[name] / inner / "objects").is_dir():
                return (folders[name] / inner).resolve()
    raise MirrorNotFoundError(
        f"No mirror of `{repo}` in `{mirrors}`: none of {', '.join(wanted)} is a git folder; clone it there."
    )


def files_at_head(tree: Path) -> frozenset[str]:
    """Return the regular files of HEAD, symbolic links and submodules left out."""
    try:
        return _regular_files(run_git(tree, "ls-tree", "-r", "-z", "HEAD"))
    except GitError:
        return frozenset()


def _regular_files(listed: bytes) -> frozenset[str]:
    rows = (entry.split("\t", 1) for entry in listed.decode("utf-8", "replace").split("\0") if entry)
    return frozenset(path for meta, path in rows if meta.startswith("100"))
