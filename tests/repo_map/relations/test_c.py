"""Names in C and C++ mean what the languages say, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

from repo_map.relations.model import Confidence
from tests.repo_map.relations.asking import callers, uses

LIKELY = Confidence.LIKELY

C = {
    "src/list.h": "struct list { struct list *next; int n; };\nint list_len(struct list *all);\n",
    "src/list.c": (
        '#include "list.h"\n'
        "static int step(int n) { return n + 1; }\n"
        "int list_len(struct list *all) {\n"
        "  return all ? step(list_len(all->next)) : 0;\n"
        "}\n"
    ),
    "src/main.c": (
        '#include "list.h"\n'
        "static int step(int n) { return n; }\n"
        "#define TWICE(x) ((x) * 2)\n"
        "int main(void) {\n"
        "  struct list all;\n"
        "  return TWICE(step(list_len(&all)));\n"
        "}\n"
    ),
    "tool.py": "def list_len(all):\n    return step(all)\n",
}


def test_a_static_function_is_its_files_own(tmp_path: Path) -> None:
    assert callers(tmp_path, C, "src/list.c:step") == ["src/list.c:4"]
    assert callers(tmp_path, C, "src/main.c:step") == ["src/main.c:6"]


def test_what_is_announced_in_a_header_is_called_from_every_source(tmp_path: Path) -> None:
    assert callers(tmp_path, C, "src/list.c:list_len") == ["src/list.c:4", "src/main.c:6"]
    assert callers(tmp_path, C, "src/list.h:list_len") == ["src/list.c:4", "src/main.c:6"]


def test_a_macro_is_called_and_a_struct_is_used(tmp_path: Path) -> None:
    assert callers(tmp_path, C, "src/main.c:TWICE") == ["src/main.c:6"]
    assert "src/main.c:5" in uses(tmp_path, C, "src/list.h:list")


BY_MACRO = {
    "mem.h": (
        "#if defined(__GNUC__)\n#  define MEM_STATIC static __inline\n#else\n"
        "#  define MEM_STATIC static\n#endif\n"
        "MEM_STATIC void put16(int *at) { *at = 16; }\n"
    ),
    "legacy.c": (
        "#define MEM_STATIC static\n#define HINT MEM_STATIC inline\n"
        "MEM_STATIC void put16(int *at) { *at = 0; }\n"
        "HINT long *put32(int *at) { return 0; }\n"
        "HINT FORCED\nunsigned put64(int *at) { return 0; }\n"
        "void old(int *at) { put16(at); put32(at); put64(at); }\n"
    ),
    "modern.c": '#include "mem.h"\nvoid now(int *at) { put16(at); put32(at); put64(at); }\n',
}


def test_a_function_that_a_macro_makes_static_is_its_files_own(tmp_path: Path) -> None:
    assert callers(tmp_path, BY_MACRO, "legacy.c:put16") == ["legacy.c:7"]
    assert callers(tmp_path, BY_MACRO, "legacy.c:put32") == ["legacy.c:7"]
    assert callers(tmp_path, BY_MACRO, "legacy.c:put64") == ["legacy.c:7"]
    assert callers(tmp_path, BY_MACRO, "mem.h:put16") == ["modern.c:2"]


def test_a_macro_before_a_function_is_not_what_it_returns(tmp_path: Path) -> None:
    files = {
        "a.c": (
            "#define LOCAL static\nstruct pair { int (*first)(void); int n; };\n"
            "typedef struct pair Pair;\n"
            "LOCAL Pair *made(void) { return 0; }\n"
            "int use(void) { return made()->n; }\n"
        )
    }
    assert uses(tmp_path, files, "a.c:Pair") == ["a.c:4"]


def test_a_files_own_function_is_meant_before_that_of_a_header_it_does_not_include(tmp_path: Path) -> None:
    files = {
        "fast.h": "static inline int size(void) { return 1; }\nint many(void) { return 1; }\n",
        "own.c": "int many(void) { return 2; }\nstatic int size(void) { return 2; }\n"
        "int use(void) { return size() + many(); }\n",
        "other.c": '#include "fast.h"\nint also(void) { return size() + many(); }\n',
    }
    assert callers(tmp_path, files, "fast.h:size") == ["other.c:2"]
    assert callers(tmp_path, files, "own.c:size") == ["own.c:3"]
    assert callers(tmp_path, files, "fast.h:many") == ["other.c:2"]


CPP = {
    "include/shape.hpp": (
        "#pragma once\n"
        "#include <memory>\n"
        "namespace geo {\n"
        "class Shape {\n"
        " public:\n"
        "  virtual int area() const;\n"
        "  static Shape make(int n);\n"
        "};\n"
        "class Square : public Shape {\n"
        "  int side();\n"
        "  int both() { return area() + side(); }\n"
        "};\n"
        "int area(int n);\n"
        "}\n"
    ),
    "src/shape.cpp": (
        '#include "shape.hpp"\n'
        "namespace geo {\n"
        "int Shape::area() const { return geo::area(1); }\n"
        "int Square::side() { return this->area(); }\n"
        "}\n"
    ),
    "src/use.cpp": (
        "#include <vector>\n"
        '#include "shape.hpp"\n'
        "using namespace geo;\n"
        "int run(const Shape& one, std::vector<std::unique_ptr<Shape>>& all) {\n"
        "  auto two = Shape::make(2);\n"
        "  for (auto& each : all) {\n"
        "    each->area();\n"
        "  }\n"
        "  std::string area;\n"
        "  area.size();\n"
        "  return one.area() + two.area() + geo::area(3);\n"
        "}\n"
    ),
}


CHOICES = {
    "a.hpp": (
        "class Shape;\n"
        "class Shape {\n public:\n  Shape(int n);\n  Shape(const char* name);\n  ~Shape() = default;\n"
        "  void set(int n);\n  void set(const char* name);\n  void set(int n, int m);\n};\n"
        "class Other : public Foreign {\n  void run() { close(); }\n};\n"
        "void close();\n"
        "namespace os {\nvoid close();\n}\n"
        "template <typename T> void make(T t);\n"
        "namespace own {\nusing std::swap;\nvoid swap(int a);\n}\n"
    ),
    "a.cpp": (
        '#include "a.hpp"\n'
        "void run(Shape& one, int n) {\n"
        "  one.set(n);\n"
        "  one.set(n, n);\n"
        "  new Shape(n);\n"
        "  own::swap(n);\n"
        "}\n"
        "namespace os {\nvoid stop() { ::close(); }\n}\n"
    ),
}


def test_in_cpp_what_types_conditions_or_a_base_from_elsewhere_must_choose_is_no_fact(tmp_path: Path) -> None:
    names = ("a.hpp:Shape.set", "a.hpp:own.swap", "a.hpp:close", "a.hpp:os.close")
    assert [callers(tmp_path, CHOICES, name) for name in names[:3]] == [[], [], []]
    assert [callers(tmp_path, CHOICES, name, LIKELY) for name in names[1:]] == [["a.cpp:6"], ["a.hpp:12"], []]
    assert uses(tmp_path, CHOICES, "a.hpp:Shape") == ["a.cpp:2", "a.cpp:5"]


def test_a_member_is_found_through_locals_pointers_bases_and_this(tmp_path: Path) -> None:
    assert callers(tmp_path, CPP, "include/shape.hpp:geo.Shape.area", LIKELY) == [
        "include/shape.hpp:11",
        "src/shape.cpp:4",
        "src/use.cpp:7",
        "src/use.cpp:11",
    ]
    # A function of a namespace is no member, and needs no choice.
    for least in (Confidence.RESOLVED, LIKELY):
        found = callers(tmp_path, CPP, "include/shape.hpp:geo.area", least)
        assert found == ["src/shape.cpp:3", "src/use.cpp:11"]


def test_a_function_that_takes_anything_is_told_from_one_that_takes_two(tmp_path: Path) -> None:
    files = {
        "a.cpp": (
            "void log(...) {}\n"
            "void log(int one, const char* two) {}\n"
            "void run() {\n"
            '  log(1, "two");\n'
            "  log(1, 2, 3);\n"
            "}\n"
        )
    }
    assert callers(tmp_path, files, "a.cpp:log", LIKELY) == ["a.cpp:5"]


def test_what_is_written_in_a_header_is_meant_only_by_sources_that_include_it(tmp_path: Path) -> None:
    files = {
        "in.h": "static inline int read_in(int n) { return n; }\n",
        "more.h": '#include "in.h"\n',
        "stream.h": "template <class T> inline int read(T *x, int n) { return n; }\n",
        "a.c": '#include "more.h"\nint a(void) { return read_in(1) + read(0, 1); }\n',
        "b.c": "int b(void) { return read_in(2); }\n",
    }
    assert callers(tmp_path, files, "in.h:read_in") == ["a.c:2"]
    assert callers(tmp_path, files, "stream.h:read") == []


MACROS = {
    "shop.hpp": (
        "namespace shop {\n"
        "class SHOP_API Cart {\n public:\n  int count() const SHOP_NOEXCEPT;\n"
        "  int size() const { return 1; }\n};\n"
        "using Price = long;\n"
        "namespace own {\nusing std::size;\n}\n"
        "}\n"
        "#ifdef SHOP_SLOW\n#define SHOP_LOG(x) slow(x)\n#else\n#define SHOP_LOG(x) fast(x)\n#endif\n"
    ),
    "cart.cpp": (
        '#include "shop.hpp"\n'
        "int Cart::count() const { return size(); }\n"
        "int total(const shop::Cart& cart, shop::Price each) {\n"
        "  SHOP_LOG(each);\n"
        "  return cart.count() + cart.size();\n"
        "}\n"
    ),
}


def test_macros_hide_no_member_of_a_class_and_are_called_whichever_condition_holds(tmp_path: Path) -> None:
    assert callers(tmp_path, MACROS, "shop.hpp:shop.Cart.count") == ["cart.cpp:5"]
    assert callers(tmp_path, MACROS, "shop.hpp:shop.Cart.size") == ["cart.cpp:2", "cart.cpp:5"]
    assert callers(tmp_path, MACROS, "shop.hpp:SHOP_LOG") == ["cart.cpp:4"]
    assert uses(tmp_path, MACROS, "shop.hpp:shop.Cart") == ["cart.cpp:2", "cart.cpp:3"]


def test_another_name_of_a_type_is_a_fact_where_nothing_else_bears_it(tmp_path: Path) -> None:
    assert uses(tmp_path, MACROS, "shop.hpp:shop.Price") == ["cart.cpp:3"]
    twice = {**MACROS, "slow.hpp": "namespace shop {\nusing Price = double;\n}\n"}
    assert uses(tmp_path / "twice", twice, "shop.hpp:shop.Price") == []


def test_a_call_is_none_of_a_function_that_takes_less(tmp_path: Path) -> None:
    files = {
        "a.hpp": "namespace a {\nvoid eq();\n}\nnamespace b {\ntemplate <class T> void eq(T t);\n}\n",
        "a.cpp": '#include "a.hpp"\nusing namespace a;\nvoid run() { eq(1); }\n',
    }
    assert callers(tmp_path, files, "a.hpp:a.eq") == []


def test_a_member_of_what_under_another_condition_is_not_ours_is_no_fact(tmp_path: Path) -> None:
    files = {
        "a.hpp": (
            "class Null {\n public:\n  void store(int n);\n};\n"
            "#ifdef PLAIN\nusing Level = Null;\n#else\nusing Level = std::atomic<int>;\n#endif\n"
            "class Sink {\n  void set(int n) { level_.store(n); }\n  Level level_;\n};\n"
        )
    }
    assert callers(tmp_path, files, "a.hpp:Null.store") == []
