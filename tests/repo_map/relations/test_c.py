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


def test_what_needs_no_choice_in_cpp_is_a_fact(tmp_path: Path) -> None:
    assert callers(tmp_path, CPP, "include/shape.hpp:geo.area") == ["src/shape.cpp:3", "src/use.cpp:11"]


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


def test_in_cpp_what_types_or_conditions_must_choose_is_no_fact(tmp_path: Path) -> None:
    assert callers(tmp_path, CHOICES, "a.hpp:Shape.set") == []
    assert callers(tmp_path, CHOICES, "a.hpp:own.swap") == []
    assert callers(tmp_path, CHOICES, "a.hpp:own.swap", LIKELY) == ["a.cpp:6"]


def test_in_cpp_what_a_base_from_elsewhere_may_bring_is_only_likely(tmp_path: Path) -> None:
    assert callers(tmp_path, CHOICES, "a.hpp:close") == []
    assert callers(tmp_path, CHOICES, "a.hpp:close", LIKELY) == ["a.hpp:12"]
    assert callers(tmp_path, CHOICES, "a.hpp:os.close", LIKELY) == []


def test_announcing_a_class_is_no_use_of_it(tmp_path: Path) -> None:
    assert uses(tmp_path, CHOICES, "a.hpp:Shape") == ["a.cpp:2", "a.cpp:5"]


def test_a_member_is_found_through_locals_pointers_bases_and_this(tmp_path: Path) -> None:
    assert callers(tmp_path, CPP, "include/shape.hpp:geo.Shape.area", LIKELY) == [
        "include/shape.hpp:11",
        "src/shape.cpp:4",
        "src/use.cpp:7",
        "src/use.cpp:11",
    ]


def test_a_function_of_a_namespace_is_no_member(tmp_path: Path) -> None:
    assert callers(tmp_path, CPP, "include/shape.hpp:geo.area", LIKELY) == [
        "src/shape.cpp:3",
        "src/use.cpp:11",
    ]


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
