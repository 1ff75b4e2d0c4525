"""Rust's names mean what Rust says they mean, and nothing is told of those that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo_map.relations.asking import Files, callers, uses

SHOP: Files = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub mod tax;\npub mod cart;\npub use crate::tax::Rate;\n",
    "src/tax.rs": (
        "pub trait Apply {\n"
        "    fn apply(&self, amount: u32) -> u32;\n"
        "    fn twice(&self) -> u32 { self.apply(2) }\n"
        "}\n"
        "pub struct Rate { percent: u32 }\n"
        "impl Rate {\n"
        "    pub fn new(percent: u32) -> Result<Self, String> { Ok(Rate { percent }) }\n"
        "    pub fn of(&self) -> u32 { self.percent }\n"
        "}\n"
        "impl Apply for Rate {\n"
        "    fn apply(&self, amount: u32) -> u32 { amount * self.of() }\n"
        "}\n"
        "pub fn find(name: &str) -> Option<Box<Rate>> { None }\n"
    ),
    "src/cart.rs": (
        "use super::tax::{self, find as look, Apply, Rate};\n"
        "use std::cmp;\n"
        "pub struct Cart { rates: Vec<Rate>, first: Option<Rate> }\n"
        "impl Cart {\n"
        "    pub fn total(&self, other: &dyn Apply) -> Result<u32, String> {\n"
        "        let rate = Rate::new(1)?;\n"
        "        for each in self.rates.iter() {\n"
        "            each.of();\n"
        "        }\n"
        "        if let Some(first) = &self.first {\n"
        "            first.of();\n"
        "        }\n"
        "        assert_eq!(rate.of(), 3);\n"
        '        look("a").unwrap().of();\n'
        '        tax::find("b");\n'
        "        other.apply(1);\n"
        '        Ok(rate.twice() + cmp::max(1, 2) + "x".len() as u32)\n'
        "    }\n"
        "}\n"
        "fn max(a: u32) -> u32 { a }\n"
        "fn len() {}\n"
    ),
    "tests/all.rs": "use shop::Rate;\n#[test]\nfn works() { Rate::new(2).unwrap().of(); }\n",
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "tax.rs:Rate.of",
            [*(f"src/cart.rs:{at}" for at in (8, 11, 13, 14)), "src/tax.rs:11", "tests/all.rs:3"],
        ),
        ("tax.rs:find", ["src/cart.rs:14", "src/cart.rs:15"]),
        ("tax.rs:Rate.new", ["src/cart.rs:6", "tests/all.rs:3"]),
        ("tax.rs:Apply.apply", ["src/cart.rs:16", "src/tax.rs:3"]),
        ("tax.rs:Apply.twice", ["src/cart.rs:17"]),
        ("cart.rs:max", []),
        ("cart.rs:len", []),
    ],
)
def test_callers_are_found_through_patterns_macros_modules_and_traits(
    tmp_path: Path, name: str, lines: list[str]
) -> None:
    assert callers(tmp_path, SHOP, f"src/{name}") == lines


def test_a_type_is_used_where_it_is_written(tmp_path: Path) -> None:
    assert {"src/cart.rs:3", "src/cart.rs:6", "src/tax.rs:13"} <= set(uses(tmp_path, SHOP, "src/tax.rs:Rate"))


MACROS: Files = {
    "Cargo.toml": '[package]\nname = "net"\nversion = "0.1.0"\n',
    "src/lib.rs": "#[macro_use]\nmod cfg;\npub mod body;\npub mod client;\n",
    "src/cfg.rs": "macro_rules! with_http {\n    ($($item:item)*) => { $($item)* }\n}\n",
    "src/body/mod.rs": "mod read;\npub use self::read::read;\n",
    "src/body/read.rs": "pub fn read(n: u32) -> u32 { n }\n",
    "src/client/mod.rs": (
        "with_http! {\n    mod inner;\n    pub use self::inner::{Client, inside::{self, Part as Piece}};\n}\n"
    ),
    "src/client/inner.rs": (
        "pub struct Client {}\n"
        "impl Client {\n    pub fn new() -> Client { Client {} }\n    pub fn get(&self) {}\n}\n"
        "pub mod inside {\n    pub struct Part {}\n    impl Part {\n        pub fn whole() {}\n    }\n}\n"
    ),
    "tests/all.rs": (
        "use net::client::{inside, Client, Piece};\n"
        "fn works() {\n    let client = Client::new();\n    client.get();\n    net::body::read(1);\n"
        "    Piece::whole();\n    inside::Part::whole();\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("client/inner.rs:Client.get", ["tests/all.rs:4"]),
        ("client/inner.rs:inside.Part.whole", ["tests/all.rs:6", "tests/all.rs:7"]),
        ("cfg.rs:with_http", ["src/client/mod.rs:1"]),
        ("body/read.rs:read", ["tests/all.rs:5"]),
    ],
)
def test_what_a_macro_is_given_is_used_as_if_it_were_not_there(
    tmp_path: Path, name: str, lines: list[str]
) -> None:
    assert callers(tmp_path, MACROS, f"src/{name}") == lines


ASSOCIATED: Files = {
    "Cargo.toml": '[package]\nname = "net"\nversion = "0.1.0"\n',
    "src/lib.rs": (
        "pub struct Done {}\n"
        "pub trait Serve {\n    type Future;\n    fn call(&self) -> Self::Future;\n}\n"
        "pub struct Held<S: Serve> {\n    inner: S,\n    now: Option<S::Future>,\n}\n"
        "pub struct Mine {}\n"
        "impl Serve for Mine {\n    type Future = Done;\n    fn call(&self) -> Self::Future { Done {} }\n}\n"
    ),
}


def test_a_type_that_belongs_to_a_trait_is_used_through_parameters(tmp_path: Path) -> None:
    assert uses(tmp_path, ASSOCIATED, "src/lib.rs:Serve.Future") == ["src/lib.rs:4", "src/lib.rs:8"]


def test_a_crate_is_known_whatever_stands_before_its_name(tmp_path: Path) -> None:
    files = {
        "core/Cargo.toml": '[package]\ncategories = ["net"]\nname = "my-core"\n',
        "core/src/lib.rs": "#[derive(Default)]\npub struct Part {}\nimpl Part {\n  pub fn run(&self) {}\n}\n",
        "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\nmy-core = { path = "../core" }\n',
        "app/src/main.rs": "use my_core::Part;\nfn main() {\n    Part::default().run();\n}\n",
    }
    assert callers(tmp_path, files, "core/src/lib.rs:Part.run") == ["app/src/main.rs:3"]


def test_types_are_used_in_what_macros_are_given(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "net"\n',
        "src/lib.rs": (
            "pub mod code;\nuse code::{Kind, low_code};\n"
            "fn run(kind: u32) {\n"
            "    assert_eq!(Kind::Ok, low_code::Bad);\n"
            "    assert!(code::Kind::<u32>::new() != vec![Kind {}]);\n"
            '    log!("Kind", kind.Kind, $Kind, Kind: 1);\n'
            "}\n"
        ),
        "src/code.rs": "pub enum Kind { Ok }\npub enum low_code { Bad }\n",
    }
    assert uses(tmp_path, files, "src/code.rs:Kind") == ["src/lib.rs:4", "src/lib.rs:5"]
    assert set(uses(tmp_path, files, "src/code.rs:low_code")) == {"src/lib.rs:4"}


def test_a_name_that_is_bound_from_itself_means_what_it_meant_before(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "net"\n',
        "src/lib.rs": (
            "pub mod conn;\nfn wait(it: conn::Conn) -> conn::Conn { it }\n"
            "fn run() {\n    let conn = wait(conn::open(1));\n    conn.close();\n}\n"
        ),
        "src/conn.rs": (
            "pub struct Conn {}\nimpl Conn {\n    pub fn close(&self) {}\n}\n"
            "pub fn open(n: u32) -> Conn { Conn {} }\n"
        ),
    }
    assert callers(tmp_path, files, "src/conn.rs:open") == ["src/lib.rs:4"]
    assert callers(tmp_path, files, "src/conn.rs:Conn.close") == ["src/lib.rs:5"]
