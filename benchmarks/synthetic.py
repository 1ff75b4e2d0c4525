"""A made-up repository of any size, the same bytes each time, in four languages."""

from __future__ import annotations

import random
import re
from pathlib import Path

_WORDS = re.findall(
    r"\w+",
    """
    account action address agent batch block broker buffer cache channel client cluster codec column
    command config context counter cursor data default device digest domain driver encoder entity
    entry error event factory field filter format frame gateway graph group handler header host
    image index invoice item job key label layer lease limit link list loader lock log manager map
    member message metric model module monitor name network node object offset option order packet
    page parser path peer plan point policy pool port process profile proxy query queue range rate
    record region registry report request resource response result role route router rule scanner
    schedule schema scope section segment server service session shard signal slot snapshot socket
    source state status step store stream table target task template thread ticket timer token topic
    trace transport tree unit update user value vector version view watcher window worker
    """,
)

_PYTHON = '''    def {method}(self, {a}: str, {b}: int = {number}) -> str:
        """Return the {a} of a {b} unless the {c} is spent."""
        if {b} > self.{c}_limit:
            raise ValueError(f"{a} over {number}: {{{b}}}")
        return self.{c}.{other}({a}, {b})

'''
_JAVA = """    /** Returns the {a} of a {b} unless the {c} is spent. */
    public String {method}(String {a}, int {b}) {{
        if ({b} > this.{c}Limit) {{
            throw new IllegalArgumentException("{a} over {number}: " + {b});
        }}
        return this.{c}.{other}({a}, {b});
    }}

"""
_TYPESCRIPT = """  /** Returns the {a} of a {b} unless the {c} is spent. */
  {method}({a}: string, {b}: number = {number}): string {{
    if ({b} > this.{c}Limit) {{
      throw new RangeError(`{a} over {number}: ${{{b}}}`);
    }}
    return this.{c}.{other}({a}, {b});
  }}

"""
_GO = """// {method} returns the {a} of a {b} unless the {c} is spent.
func (s *{name}) {method}({a} string, {b} int) (string, error) {{
	if {b} > s.{c}Limit {{
		return "", fmt.Errorf("{a} over {number}: %d", {b})
	}}
	return s.{c}.{other}({a}, {b})
}}

"""
_SHAPES = (
    ("py", "import {module}\n\n\nclass {name}:\n", _PYTHON, ""),
    ("java", "package {module};\n\nimport {module}.*;\n\npublic class {name} {{\n", _JAVA, "}\n"),
    (
        "ts",
        'import {{ {name} as Base }} from "./{module}";\n\nexport class {name} extends Base {{\n',
        _TYPESCRIPT,
        "}\n",
    ),
    ("go", 'package {module}\n\nimport "fmt"\n\ntype {name} struct {{\n\tlimit int\n}}\n\n', _GO, ""),
)


def write_synthetic_tree(root: Path, files: int) -> Path:
    """Write ``files`` source files of 2 to 9 kB under ``root``, and return it."""
    chance = random.Random(files)
    for number in range(files):
        suffix, head, method, tail = _SHAPES[number % len(_SHAPES)]
        names = {
            "module": chance.choice(_WORDS),
            "name": "".join(word.title() for word in chance.sample(_WORDS, 3)) + str(number),
        }
        body = "".join(method.format(**names, **_method(chance)) for _ in range(chance.randint(6, 30)))
        path = root / chance.choice(_WORDS) / chance.choice(_WORDS) / f"{names['name']}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head.format(**names) + body + tail, encoding="utf-8")
    return root


def _method(chance: random.Random) -> dict[str, str]:
    a, b, c, *rest = chance.sample(_WORDS, 7)
    return {
        "a": a,
        "b": b,
        "c": c,
        "method": rest[0] + rest[1].title(),
        "other": rest[2] + rest[3].title(),
        "number": str(chance.randint(2, 9_999)),
    }
