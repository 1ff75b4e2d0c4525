"""What a check reports of edits whose users are in components, strings, or behind a module's exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo_map.check.edit_cases import Case
from tests.repo_map.check.test_check import check, described, edited, uncertain

TOAST = "export function raise(text: string, seconds = 4) {}\nexport const limit = 3\n"
VUE = """<template>
  <order-line v-for="row in rows" :key="row.id" @gone="raise(row.id)" />
  <p :title="`${limit}`">{{ limit }}</p>
</template>

<script setup lang="ts">
import OrderLine from './OrderLine.vue'
import { raise, limit } from '@/toast'
const drop = () => {
  raise('gone')
}
</script>
"""
SVELTE = """<script lang="ts">
  import { raise, limit } from './toast'
</script>
{#if limit > 2}<p on:click={() => raise('x')}>{limit}</p>{/if}
"""
COMPONENTS = {
    "src/toast.ts": TOAST,
    "src/Panel.vue": VUE,
    "src/OrderLine.vue": "<template><li></li></template>\n",
    "src/Row.svelte": SVELTE,
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}',
}
CASES = {
    "component-arguments": Case(
        COMPONENTS,
        {"src/toast.ts": ("text: string, seconds = 4", "")},
        tuple(
            f"src/{place} arguments the call of `raise` does not fit: expected 0 arguments, got 1"
            for place in ("Panel.vue:2", "Panel.vue:10", "Row.svelte:4")
        ),
    ),
    "component-deleted": Case(
        COMPONENTS,
        {"src/OrderLine.vue": None},
        ("src/Panel.vue:7 gone-name it imports src/OrderLine.vue, which was removed",),
        ("src/Panel.vue:2",),
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_check_reports_what_an_edit_breaks(tmp_path: Path, name: str) -> None:
    report = check(edited(tmp_path, CASES[name]))
    assert described(report) == CASES[name].findings
    assert uncertain(report) == CASES[name].uncertain
    assert report.complete is not bool(CASES[name].uncertain)
