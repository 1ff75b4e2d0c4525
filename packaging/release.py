"""Build all that a release publishes into ``dist/``: ``make release``.

Each step proves something: the workflows pass their linters, two copies of the tree give the same bytes, the
wheel answers in an environment that holds nothing else, and what it brings along is listed (CycloneDX).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from manifests import ROOT, VERSION, as_json, registry_entry
from model_texts import FILE as MODEL_TEXTS

TARGET: Final = ROOT / "dist"
_BUILD: Final = (
    "import sys; from hatchling import build; "
    "print(build.build_sdist(sys.argv[1])); print(build.build_wheel(sys.argv[1]))"
)
_BINARIES: Final = Path(sys.executable).parent


def main() -> None:
    """Check, build twice, install, list and sum up.

    Raises:
        SystemExit: The tree holds what is not committed, or one of the steps fails; the message says which.
    """
    changed = _ran(["git", "status", "--porcelain"], ROOT)
    if changed:
        raise SystemExit(f"A release is built from a commit; commit or remove first:\n{changed}")
    _check_workflows()
    shutil.rmtree(TARGET, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        first, second = (_built(Path(folder) / name) for name in ("first", "second"))
        for path in sorted(first.iterdir()):
            if path.read_bytes() != (second / path.name).read_bytes():
                raise SystemExit(f"{path.name} has other bytes when it is built again.")
        shutil.copytree(first, TARGET)
    sys.stdout.write("two builds: the same bytes\n")
    shutil.copy(ROOT / MODEL_TEXTS, TARGET)
    _list_contents()
    (TARGET / "server.json").write_text(as_json(registry_entry()), encoding="utf-8")
    (TARGET / "NOTES.md").write_text(notes(VERSION), encoding="utf-8")
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in sorted(TARGET.iterdir()))
    (TARGET / "SHA256SUMS").write_text(sums, encoding="utf-8")
    sys.stdout.write(sums)


def digest(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def notes(of: str) -> str:
    """Return what the changelog says of a version, and the hash of what a model is sent.

    Raises:
        SystemExit: The changelog has no heading for the version.
    """
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## \[{re.escape(of)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changes, re.DOTALL | re.MULTILINE
    )
    if found is None:
        raise SystemExit(f"CHANGELOG.md has no heading for {of}.")
    sent = f"What a model is sent (`model-texts.md`): SHA-256 `{digest(ROOT / MODEL_TEXTS)}`"
    return f"{found[1].strip()}\n\n{sent}\n"


def _check_workflows() -> None:
    workflows = sorted(str(path) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    schema = ["--builtin-schema", "vendor.github-workflows"]
    _ran([_BINARIES / "check-jsonschema", *schema, *workflows], ROOT)
    _ran([_BINARIES / "zizmor", "--offline", "--quiet", *workflows], ROOT)
    sys.stdout.write(f"{len(workflows)} workflows: valid, and zizmor finds nothing\n")


def _built(tree: Path) -> Path:
    """Return a folder with the source archive, the wheel and the bundle of a fresh copy of the commit."""
    _ran(["git", "clone", "--quiet", "--no-hardlinks", ROOT, tree], ROOT)
    target = tree / "dist"
    _ran([sys.executable, "-c", _BUILD, target], tree)
    bundle = target / "repo-navigator.mcpb"
    _ran(["env", f"PYTHONPATH={tree}", sys.executable, "packaging/bundle.py", bundle], tree)
    return target


def _list_contents() -> None:
    """Install the wheel where nothing else is, let it answer, and write the list of what it brings."""
    (wheel,) = TARGET.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        quiet = ["--quiet", "--disable-pip-version-check"]
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        _ran([python, "-m", "pip", "install", *quiet, *pins, wheel], Path(folder))
        _ran([python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip"], Path(folder))
        seconds = time.monotonic() - began
        _ran([python.with_name("repo-navigator"), "doctor"], Path(folder))
        _ran([python, "-c", "from navigator.picture.page import view_page; view_page()"], Path(folder))
        listed = TARGET / "sbom.cdx.json"
        form = ["--output-reproducible", "--output-format", "JSON", "--output-file", str(listed)]
        _ran([_BINARIES / "cyclonedx-py", "environment", *form, python], Path(folder))
        _forget_folders(listed)
        size = sum(path.lstat().st_size for path in Path(folder).rglob("*") if path.is_file())
        count = len(list(Path(folder).glob("lib/python*/site-packages/*.dist-info")))
    sys.stdout.write(
        f"installed in {seconds:.0f} s: {size / 1e6:.0f} MB, {count} distributions; doctor passes\n"
    )


def _forget_folders(listed: Path) -> None:
    """Leave out where the wheel lay when it was installed: another machine has another folder."""
    contents = json.loads(listed.read_text(encoding="utf-8"))
    for component in contents["components"]:
        references = component.get("externalReferences", [])
        component["externalReferences"] = [each for each in references if not each["url"].startswith("file:")]
    listed.write_text(json.dumps(contents, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _ran(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command and return what it prints.

    Raises:
        SystemExit: With its output, if it fails.
    """
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
