"""The facts of Java and Kotlin: each language has its reader, and one resolver takes both."""

from __future__ import annotations

from typing import Final

from repo_map.languages.jvm.java_reader import JavaReader
from repo_map.languages.jvm.kotlin_reader import KotlinReader

READERS: Final = {"java": JavaReader, "kotlin": KotlinReader}
