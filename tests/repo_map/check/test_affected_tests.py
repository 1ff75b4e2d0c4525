"""Which tests a change should be tried with, and the command that runs just them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repo_map.check import affected_tests
from repo_map.check.affected_tests import MAX_TESTS
from repo_map.check.model import SelectedTest, Tier
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.relations.model import Place
from tests.repo_map.check.run_cases import COMMANDS, SHOP
from tests.support.maps import index_of
from tests.support.trees import write


def place(index: Index, path: str, name: str = "") -> Place:
    file = index.paths.index(path)
    rows = range(len(index.definitions(file)))
    return file, next((row for row in rows if index.qualified_name(file, row) == name), -1)


def test_select_tests_prefers_near_callers() -> None:
    index = index_of(SHOP)
    tests, command = affected_tests.select_tests(index, [place(index, "shop/price.py", "net")])
    assert [(each.path, each.reason) for each in tests] == [
        ("tests/test_price.py", "calls `net`"),
        ("tests/test_far.py", "reaches `net` by 2 calls"),
    ]
    assert tests[0].names == ("test_net", "TestMore.test_more")
    assert tests[0].line == 4
    assert command == (
        "python -m pytest tests/test_price.py::test_net tests/test_price.py::TestMore::test_more "
        "tests/test_far.py::test_made"
    )


def test_select_tests_prefers_direct_callers_in_a_folder_named_utils() -> None:
    wait = "def wait(n):\n    return n\n"
    far = {
        f"t/unit/test_far_{n}.py": "from app.run import go\n\n\ndef test_go():\n    go(1)\n" for n in range(5)
    }
    direct = "from app.utils.time import wait\n\n\ndef test_wait():\n    assert wait(1)\n"
    run = "from app.utils.time import wait\n\n\ndef go(n):\n    return wait(n)\n"
    files = {"app/utils/time.py": wait, "app/run.py": run, "t/unit/utils/test_time.py": direct}
    index = index_of(files | far)
    tests, command = affected_tests.select_tests(index, [place(index, "app/utils/time.py", "wait")])
    assert (tests[0].path, tests[0].names) == ("t/unit/utils/test_time.py", ("test_wait",))
    assert tests[0].path in command


STEPS = "".join(f"def s{n}():\n    return s{n + 1}()\n\n\n" for n in range(5)) + "def s5():\n    return 1\n"
SETTLE = "class A:\n    def settle(self):\n        return 1\n"
ONLY = {
    "distant": (
        {"a.py": STEPS, "test_b.py": "from a import s0\n\n\ndef test_s():\n    s0()\n"},
        ("a.py", "s5"),
        SelectedTest("test_b.py", ("test_s",), 4, Tier.CALLS, "reaches `s5` by 6 calls"),
    ),
    "same-name": (
        SHOP | {"shop/tax.py": "RATE = 1\n", "tests/test_tax.py": "import shop\n"},
        ("shop/tax.py",),
        SelectedTest("tests/test_tax.py", (), 1, Tier.SAME_NAME, "is named after shop/tax.py"),
    ),
    "edited-test": (
        SHOP,
        ("tests/test_price.py", "test_net"),
        SelectedTest("tests/test_price.py", (), 4, Tier.CHANGED, "is part of the change"),
    ),
    "unresolved-caller-is-run-whole": (
        {"a.py": SETTLE, "test_b.py": "def test_b(made):\n    made.settle()\n\n\ndef test_c():\n    pass\n"},
        ("a.py", "A.settle"),
        SelectedTest("test_b.py", (), 1, Tier.CALLS, "calls `A.settle`"),
    ),
}


@pytest.mark.parametrize("name", sorted(ONLY))
def test_select_tests_gives_a_reason(name: str) -> None:
    files, changed, wanted = ONLY[name]
    index = index_of(files)
    assert affected_tests.select_tests(index, [place(index, *changed)]).tests == (wanted,)


def test_select_tests_is_limited() -> None:
    many = {
        f"tests/test_{n:02}.py": f"from shop.price import net\n\n\ndef test_{n}():\n    net({n})\n"
        for n in range(20)
    }
    index = index_of(SHOP | many)
    assert len(affected_tests.select_tests(index, [place(index, "shop/price.py", "net")]).tests) == MAX_TESTS


@pytest.mark.parametrize("kind", sorted(COMMANDS))
def test_command_follows_the_configuration(kind: str) -> None:
    files, path, name, wanted = COMMANDS[kind]
    index = index_of(files)
    assert affected_tests.select_tests(index, [place(index, path, name)]).command == wanted


@pytest.mark.parametrize("package", ["[" * 100_000, '{"scripts": null}', '{"scripts": {"test": 1}}', "{"])
def test_package_that_cannot_be_read_has_no_command(package: str) -> None:
    files = {"package.json": package, "a.js": "exports.net = 1\n", "a.test.js": "require('./a')\n"}
    index = index_of(files)
    assert affected_tests.select_tests(index, [place(index, "a.js")]).command == ""


PYTHON = {
    "price.py": "def net(a):\n    return a\n",
    "test_price.py": "import unittest\nfrom price import net\n\n\nclass Price(unittest.TestCase):\n    def test_net(self):\n        net(print('ran net'))\n\n    def test_more(self):\n        print('ran more')\n",
    "test_cart.py": "import unittest\n\n\nclass Cart(unittest.TestCase):\n    def test_cart(self):\n        print('ran cart')\n",
}
RUNNABLE = {
    "pytest": ("python", "price.py", PYTHON | {"pytest.ini": "[pytest]\naddopts = -s\n"}),
    "node": (
        "node",
        "price.js",
        {
            "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
            "price.js": "export function net(a) {\n  return a\n}\n",
            "test/price.test.js": "import test from 'node:test'\nimport { net } from '../price.js'\n\ntest('net', () => net(console.log('ran net')))\n",
            "test/cart.test.js": "console.log('ran cart')\n",
        },
    ),
}


@pytest.mark.parametrize("runner", sorted(RUNNABLE))
def test_command_runs_only_the_selected_tests(tmp_path: Path, runner: str) -> None:
    program, source, files = RUNNABLE[runner]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if shutil.which(program, path=path) is None:
        pytest.skip(f"{program} is not installed")
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    command = ["sh", "-c", affected_tests.select_tests(index, [place(index, source, "net")]).command]
    environment = {**os.environ, "PATH": path}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "ran net" in ran.stdout
    assert "ran more" not in ran.stdout
    assert "ran cart" not in ran.stdout
