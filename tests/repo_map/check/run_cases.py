"""Small repositories with tests, and the command that runs those of one definition."""

from __future__ import annotations

SHOP = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "shop/__init__.py": "",
    "shop/price.py": "def net(amount):\n    return amount\n\n\ndef gross(amount):\n    return net(amount)\n",
    "shop/cart.py": "from shop.price import gross\n\n\ndef total(items):\n    return sum(map(gross, items)) + gross(0)\n",
    "tests/test_price.py": "from shop.price import net\n\n\ndef test_net():\n    assert net(1)\n\n\nclass TestMore:\n    def test_more(self):\n        assert net(2)\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1])\n",
    "tests/helpers.py": "from shop.price import net\n\n\ndef made():\n    return net(3)\n",
    "tests/test_far.py": "from tests.helpers import made\n\n\ndef test_made():\n    assert made()\n",
    "tests/test_other.py": "def test_other():\n    pass\n",
}


GO = {
    "go.mod": "module m\n",
    "p/a.go": "package p\n\nfunc Add(a int) int { return a }\n",
    "p/a_test.go": 'package p\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { Add(1) }\n\nfunc TestNo(t *testing.T) {}\n',
}
RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["core"]\n',
    "core/Cargo.toml": '[package]\nname = "core-lib"\n',
    "core/src/lib.rs": "pub mod len;\n",
    "core/src/len.rs": "pub fn size() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() { super::size(); }\n}\n",
}
MAVEN = {
    "pom.xml": "<project/>\n",
    "core/pom.xml": "<project/>\n",
    "core/src/main/java/p/Price.java": "package p;\npublic class Price {\n    public static int net(int a) {\n        return a;\n    }\n}\n",
    "core/src/test/java/p/PriceTest.java": "package p;\nclass PriceTest {\n    void nets() {\n        Price.net(1);\n    }\n}\n",
}
GRADLE = {
    "settings.gradle.kts": "",
    "gradlew": "",
    "lib/build.gradle.kts": "",
    "lib/src/main/kotlin/p/Price.kt": "package p\n\nfun net(a: Int): Int = a\n",
    "lib/src/test/kotlin/p/PriceTest.kt": "package p\n\nclass PriceTest {\n    fun nets() {\n        net(1)\n    }\n}\n",
}
SCRIPT = {"src/price.js": "export function net(a) {\n  return a\n}\n"}
SCRIPT_TEST = "import { net } from '../src/price.js'\nnet(1)\n"
COMMANDS = {
    "go": (GO, "p/a.go", "Add", "go test ./p -run '^(TestAdd)$'"),
    "rust": (RUST, "core/src/len.rs", "size", "cargo test -p core-lib --lib -- len::"),
    "maven-module": (
        MAVEN,
        "core/src/main/java/p/Price.java",
        "Price.net",
        "mvn test -pl core -am -Dtest=PriceTest -Dsurefire.failIfNoSpecifiedTests=false",
    ),
    "gradle-module": (
        GRADLE,
        "lib/src/main/kotlin/p/Price.kt",
        "net",
        "./gradlew :lib:test --tests p.PriceTest",
    ),
    "maven-below-a-folder": (
        {f"server/{path}": text for path, text in MAVEN.items()} | {"server/mvnw": ""},
        "server/core/src/main/java/p/Price.java",
        "Price.net",
        "(cd server && ./mvnw test -pl core -am -Dtest=PriceTest -Dsurefire.failIfNoSpecifiedTests=false)",
    ),
    "gradle-below-a-folder": (
        {f"android/{path}": text for path, text in GRADLE.items()},
        "android/lib/src/main/kotlin/p/Price.kt",
        "net",
        "(cd android && ./gradlew :lib:test --tests p.PriceTest)",
    ),
    "vitest": (
        SCRIPT
        | {
            "package.json": '{"scripts": {"test": "vitest --run"}}',
            "test/price.test.js": SCRIPT_TEST,
            "yarn.lock": "",
        },
        "src/price.js",
        "net",
        "yarn vitest run test/price.test.js",
    ),
    "node": (
        SCRIPT
        | {
            "package.json": '{"scripts": {"test": "node --import tsx --test test/*.test.js"}}',
            "test/price.test.js": SCRIPT_TEST,
        },
        "src/price.js",
        "net",
        "node --import tsx --test test/price.test.js",
    ),
    "mocha-in-a-workspace": (
        {
            "package.json": '{"workspaces": ["packages/*"], "devDependencies": {"mocha": "1"}}',
            "packages/a/package.json": '{"scripts": {"test": "mocha"}}',
            "packages/a/src/price.js": SCRIPT["src/price.js"],
            "packages/a/test/price.spec.js": SCRIPT_TEST,
        },
        "packages/a/src/price.js",
        "net",
        "(cd packages/a && npx mocha test/price.spec.js)",
    ),
    "unittest": (
        {
            "a.py": "def f():\n    pass\n",
            "test_a.py": "import unittest\nfrom a import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        f()\n",
        },
        "a.py",
        "f",
        "python -m unittest test_a.T.test_f",
    ),
    "rspec": (
        {"Gemfile": "", "lib/price.rb": "class Price\nend\n", "spec/price_spec.rb": "describe 'x' do\nend\n"},
        "lib/price.rb",
        "",
        "bundle exec rspec spec/price_spec.rb",
    ),
    "phpunit": (
        {
            "composer.json": "{}",
            "src/Price.php": "<?php\nclass Price {}\n",
            "tests/PriceTest.php": "<?php\nclass PriceTest {}\n",
        },
        "src/Price.php",
        "",
        "vendor/bin/phpunit --filter PriceTest",
    ),
    "ctest": (
        {
            "CMakeLists.txt": "enable_testing()\nadd_test(NAME test_price COMMAND test_price)\n",
            "price.c": "int net;\n",
            "test/test_price.c": "int main;\n",
        },
        "price.c",
        "",
        "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
    ),
    "mocha-with-what-it-needs": (
        SCRIPT
        | {
            "package.json": '{"scripts": {"test": "mocha --require test/support/env --reporter spec --check-leaks test/"}}',
            "test/price.js": SCRIPT_TEST,
        },
        "src/price.js",
        "net",
        "npx mocha --require test/support/env --reporter spec --check-leaks test/price.js",
    ),
    "a-name-with-a-blank": (
        {"pytest.ini": "", "my price.py": "A = 1\n", "test_my price.py": ""},
        "my price.py",
        "",
        "python -m pytest 'test_my price.py'",
    ),
}
