"""Units: every file is cut into functions, class headers and gaps, and their words are counted by field."""

from __future__ import annotations

from repo_map.parsing.symbols import read_symbols
from repo_map.text.terms import FIELDS, count_terms, terms_of, tokenize
from repo_map.text.units import BODY, CLASS_HEADER, DOCS, FUNCTION, GAP, NAME, STRINGS, FileUnits, read_units

SOURCE = b'''import os, sys

# Cached on purpose.
class Router:
    """Sends requests."""
    retries = 3

    def dispatch(self, request):
        # pick a handler
        return self.handlers["home page"](request)

def main():
    return Router()

if __name__ == "__main__":
    main()
'''
SYMBOLS = read_symbols(SOURCE, "app.py")


def words_of(units: FileUnits, unit: int, field: int) -> set[str]:
    counted = count_terms(units.texts)
    rows = zip(counted.units.tolist(), counted.term_ids.tolist(), counted.fields.tolist(), strict=True)
    return {counted.terms[term] for row, term, at in rows if (row, at) == (unit, field)}


def test_a_file_is_cut_into_functions_class_headers_and_gaps_in_line_order() -> None:
    units = read_units(SOURCE, SYMBOLS, "app.py")
    spans = list(zip(units.start, units.end, units.definition, units.kind, strict=True))
    assert spans == [
        (1, 1, -1, GAP),
        (3, 7, 0, CLASS_HEADER),
        (8, 10, 2, FUNCTION),
        (12, 13, 3, FUNCTION),
        (15, 16, -1, GAP),
    ]


def test_words_are_counted_in_the_field_where_they_stand() -> None:
    units = read_units(SOURCE, SYMBOLS, "app.py")
    assert words_of(units, 2, NAME) == {"dispatch", "router"}
    assert words_of(units, 2, DOCS) == {"pick", "handler"}
    assert words_of(units, 2, STRINGS) == {"home", "page"}
    assert {"handler", "request"} <= words_of(units, 2, BODY)
    assert "send" in words_of(units, 1, DOCS)


def test_a_compound_word_stands_for_itself_and_for_its_stemmed_parts() -> None:
    assert terms_of("cacheKeys") == terms_of("cache_keys") == ("cachekeys", "cach", "key")
    assert terms_of("the") == ()
    assert terms_of("L031") == ("l031",)


def test_a_long_wrapper_function_is_opened_so_that_its_inner_functions_are_units() -> None:
    source = b"function wrap() {\n" + b"  work();\n" * 200 + b"  function inner() {}\n}\n"
    units = read_units(source, read_symbols(source, "wrap.js"), "wrap.js")
    assert (202, 202) in set(zip(units.start, units.end, strict=True))
    assert all(end - start < 60 for start, end in zip(units.start, units.end, strict=True))


def test_words_are_the_same_however_texts_are_split() -> None:
    odd = [
        "x",
        "",
        "12ab 0x1F _1_000",
        "zwölf Größen 12größe",
        "a\0b cacheKeys\0",
        "数据 name",
        "cacheKeys 9",
    ]
    counted = count_terms([*odd, "", "", ""])
    rows = zip(counted.units.tolist(), counted.fields.tolist(), counted.term_ids.tolist(), strict=True)
    found = sorted((unit * FIELDS + field, counted.terms[term]) for unit, field, term in rows)
    assert found == sorted(
        {(at, term) for at, text in enumerate(odd) for word in tokenize(text) for term in terms_of(word)}
    )
