"""Goals about what stands beside the code find it, and goals about the code do not."""

from __future__ import annotations

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.plan.model import FlightPlan
from repo_map.ranking.priors import file_kind_intents
from repo_map.ranking.score import score_goal
from repo_map.sources.file_kinds import FileKind
from tests.support.maps import pack_places
from tests.support.trees import write

RETRY = """def retry(request, limit):
    '''Retry a request up to the limit.'''
    return request
"""
USES = "from app.retry import retry\n\n"
FILES = {
    "src/app/retry.py": RETRY,
    "src/app/client.py": f"{USES}def send(request):\n    return retry(request, 3)\n",
    "src/app/limits.py": "def read_limits(path):\n    '''Read a retry limit.'''\n    return open(path)\n",
    "tests/test_retry.py": f"{USES}def test_retry():\n    assert retry('request', 1)\n",
    "tests/test_client.py": "def test_send_on_windows():\n    assert True\n",
    "benchmarks/bench_retry.py": f"{USES}def bench_retry():\n    retry('request', 9)\n",
    "examples/retry_request.py": "from app import send\n\nsend('request')\n",
    "docs/retrying.md": "# Retrying\n\nHow a request is retried, and how its limit is set.\n",
    "docs/install.md": "# Install\n\nWith pip.\n",
    "README.md": "# App\n\nSends requests.\n",
    "packages/webapp/README.md": "# Webapp\n\nSends nothing.\n",
    "CHANGELOG.md": "# Changes\n\n## 1.0\n\n- retry of a request has a limit\n",
    ".github/workflows/ci.yml": "name: ci\njobs:\n  tests:\n    runs-on: ubuntu\n    timeout-minutes: 5\n",
    ".travis.yml": "language: python\n",
    ".clippy.toml": 'msrv = "1.70"\n',
    "scripts/checkall.py": "def check():\n    return 'limit of a request'\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("app"), FILES), store=Store(None), workers=1)


@pytest.mark.parametrize(
    ("goal", "path"),
    [
        ("Fix the limit in retry of a request", "src/app/retry.py"),
        ("Add tests for the retry limit of a request", "tests/test_retry.py"),
        ("tests: retry a request twice", "tests/test_retry.py"),
        ("test: cover the retry of a request up to its limit", "tests/test_retry.py"),
        ("docs: say how the limit of retrying a request is set", "docs/retrying.md"),
        ("Update the retry_request example", "examples/retry_request.py"),
        ("Raise the timeout-minutes of the CI workflow", ".github/workflows/ci.yml"),
        ("Add Python 3.14 to travis.yml", ".travis.yml"),
        ("Update MSRV in .clippy.toml", ".clippy.toml"),
        ("Say in the README that requests are retried", "README.md"),
        ("Mention requests in the readme of the webapp", "packages/webapp/README.md"),
        ("fix(limits): read the file only once", "src/app/limits.py"),
    ],
)
def test_the_file_that_a_goal_is_about_comes_first(index: Index, goal: str, path: str) -> None:
    assert score_goal(index, goal).files[0].path == path


@pytest.mark.parametrize(
    ("goal", "path"),
    [
        ("Drop the request from the retry benchmarks", "benchmarks/bench_retry.py"),
        ("checkall: check the limit of a request", "scripts/checkall.py"),
    ],
)
def test_a_file_that_shares_its_words_with_the_code_comes_into_sight(
    index: Index, goal: str, path: str
) -> None:
    files = [file.path for file in score_goal(index, goal).files]
    assert files.index(path) < 5 < len(files)


def test_a_document_that_the_goal_is_about_is_shown_whole(index: Index) -> None:
    relevance = score_goal(index, "docs: say how the limit of retrying a request is set")
    plan = pack_places(index, relevance, FlightPlan().budget)
    assert "docs/retrying.md" in {rule.pattern for rule in plan.verbosity}


def test_a_changelog_is_no_documentation_unless_the_goal_says_so(index: Index) -> None:
    documents = score_goal(index, "Document that the retry of a request has a limit").files
    news = score_goal(index, "Add the retry limit of a request to the changelog").files
    assert "CHANGELOG.md" not in [file.path for file in documents[:3]]
    assert news[0].path == "CHANGELOG.md"


@pytest.mark.parametrize(
    ("title", "kinds", "is_outright"),
    [
        ("Test case name hashing should consider tags", FileKind(0), False),
        ("Test runner ignores the order of databases", FileKind(0), False),
        ("Conversion does not work with the documented approach", FileKind(0), False),
        ("Latest contest results are wrong", FileKind(0), False),
        ("perf: sort once", FileKind(0), False),
        ("Fix a flaky test on Windows", FileKind.TESTS, False),
        ("[docs] Add a link", FileKind.DOCS, True),
        ("DOC: list the parameters", FileKind.DOCS, True),
        (
            "docs(examples): raise the proxy's timeout",
            FileKind.DOCS | FileKind.EXAMPLES,
            True,
        ),
        ("Update the github tests action", FileKind.TESTS | FileKind.AUTOMATION, False),
        ("Improve the issue template", FileKind.AUTOMATION, False),
        ("Use eslint for types as well", FileKind.SETTINGS, False),
    ],
)
def test_a_title_says_what_it_asks_for_beside_the_code(
    title: str, kinds: FileKind, is_outright: bool
) -> None:
    assert file_kind_intents(title) == (kinds, is_outright)
