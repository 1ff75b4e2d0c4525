"""What is defined in HTML, Vue, Svelte, CSS and Markdown: a small file each, and its outline."""

from __future__ import annotations

from repo_map.parsing.symbols import read_symbols
from tests.support.outlines import check


def test_an_html_file_gives_its_definitions() -> None:
    check(
        "shop.html",
        """
        <!DOCTYPE html>
        <html>
        <head><title>Shop</title>
        <link rel="stylesheet" href="a.css">
        <script src="x.js"></script>
        <script>
        function hi(a) { return a; }
        </script>
        <style>
        .a { color: red }
        </style>
        </head>
        <body>
        <!-- Header. -->
        <header id="top" class="x">
          <h1>Welcome <b>all</b></h1>
        </header>
        <main id="cart"><form name="f"><input id="q"></form></main>
        <h2>Second</h2>
        <my-widget></my-widget>
        </body>
        </html>
        """,
        """
        element head 3-12
          element script 5-5
          element script 6-8
            function hi 7-7
          element style 9-11
        element body 13-21
          element header#top 15-17
            heading Welcome all 16-16
          element main#cart 18-18
            element form 18-18
              element input#q 18-18
          heading Second 19-19
        """,
    )


def test_a_vue_file_gives_its_definitions() -> None:
    check(
        "Cart.vue",
        """
        <template>
          <div id="x"><template v-if="a">hi</template></div>
        </template>

        <script setup lang="ts">
        import { ref } from 'vue'
        /** Adds one. */
        const add = (n: number) => {
          return n + 1
        }
        </script>
        <style scoped>
        .a { color: red }
        </style>
        """,
        """
        element template 1-3
        element script 5-11
          function add 8-10 doc 7-7
        element style 12-14
        """,
    )


def test_a_svelte_file_gives_its_definitions() -> None:
    check(
        "Cart.svelte",
        """
        <script lang="ts">
          import X from './X.svelte';
          export let name: string;
          // Adds one.
          function add(n: number) {
            return n + 1;
          }
        </script>
        <h1 id="t">Hello {name}</h1>
        {#if name}<X/>{/if}
        <style>
          h1 { color: red }
        </style>
        """,
        """
        element script 1-8
          constant name 3-3
          function add 5-7 doc 4-4
        element style 11-13
        """,
    )


def test_a_css_file_gives_its_definitions() -> None:
    check(
        "shop.css",
        """
        @import url("base.css");
        /* Cart. */
        .cart > li, #x {
          color: red;
        }
        @media (max-width: 10px) {
          .cart { color: blue }
        }
        :root { --main: #fff; }
        @keyframes spin { from { a: b } to { a: c } }
        """,
        """
        rule .cart > li, #x 3-5 doc 2-2
        rule @media (max-width: 10px) 6-8
          rule .cart 7-7
        rule :root 9-9
          constant --main 9-9
        rule @keyframes spin 10-10
        """,
    )


def test_a_markdown_file_gives_its_definitions() -> None:
    check(
        "README.md",
        """
        # A `x` #

        text
        ## B [l](u)
        Sub
        ---
        ```
        # no
        ```
        ### C
        # D
        end
        """,
        """
        heading A x 1-10
          heading B l 4-4
          heading Sub 5-10 sig 5-6
            heading C 10-10
        heading D 11-12
        """,
    )


def test_scripts_and_blocks_beyond_what_is_read_are_counted_and_told() -> None:
    page = read_symbols(b"<script>\nvar a = 1;\nfunction f() {}\n</script>\n" * 53, "a.html")
    assert sum(definition.name == "f" for definition in page.definitions) == 50
    assert page.problems == ("3 of its 53 scripts were not read: at most 50 are, in 0.25 s of CPU time",)
    vue = read_symbols(b"<template>\n</template>\n" * 52, "a.vue")
    assert vue.problems == ("2 blocks after the first 50 were left out",)
