"""What is defined in YAML, TOML, JSON, HCL and SQL: a small file each, and its outline."""

from __future__ import annotations

from tests.support.outlines import check


def test_a_yaml_file_gives_its_definitions() -> None:
    check(
        "ci.yaml",
        """
        # Top.
        name: ci
        on:
          push:
            branches: [main]
        jobs:
          build:
            runs-on: x
            steps:
              - uses: a
                with:
                  k: v
          "quoted key":
            a: 1
        ---
        second: 1
        """,
        """
        key name 2-2 doc 1-1
        key on 3-5
          key push 4-5
            key branches 5-5
        key jobs 6-14
          key build 7-12
            key runs-on 8-8
            key steps 9-12
          key quoted key 13-14
            key a 14-14
        key second 16-16
        """,
    )


def test_a_toml_file_gives_its_definitions() -> None:
    check(
        "pyproject.toml",
        """
        title = "x"
        # Owner.
        [owner]
        name = "T"
        a.b = 1
        [tool.ruff]
        line = 1
        [[products]]
        name = "H"
        """,
        """
        key title 1-1
        table owner 3-5 doc 2-2
          key name 4-4
          key a.b 5-5
        table tool.ruff 6-7
          key line 7-7
        table products 8-9
          key name 9-9
        """,
    )


def test_a_json_file_gives_its_definitions() -> None:
    check(
        "package.json",
        """
        {
          "name": "x",
          "scripts": { "build": "b",
            "deep": { "k": [1, {"z": 2}] } },
          "list": [1, 2]
        }
        """,
        """
        key name 2-2
        key scripts 3-4
          key build 3-3
          key deep 4-4
        key list 5-5
        """,
    )


def test_an_hcl_file_gives_its_definitions() -> None:
    check(
        "main.tf",
        """
        # Main bucket.
        resource "aws_s3_bucket" "main" {
          bucket = var.name
          tags = { a = 1 }
          lifecycle {
            prevent_destroy = true
          }
        }
        variable "name" {
          type = string
        }
        locals {
          x = 1
        }
        module "net" { source = "./net" }
        output "id" { value = aws_s3_bucket.main.id }
        """,
        """
        module resource.aws_s3_bucket.main 2-8 doc 1-1
          field bucket 3-3
          field tags 4-4
          field lifecycle 5-7
        module variable.name 9-11
          field type 10-10
        module locals 12-14
          field x 13-13
        module module.net 15-15
          field source 15-15
        module output.id 16-16
          field value 16-16
        """,
    )


def test_an_sql_file_gives_its_definitions() -> None:
    check(
        "schema.sql",
        """
        -- Orders.
        CREATE TABLE shop.orders (
          id INTEGER PRIMARY KEY,
          name VARCHAR(20) NOT NULL
        );
        CREATE INDEX idx_name ON orders (name);
        CREATE VIEW big AS SELECT * FROM orders WHERE id > 10;
        CREATE OR REPLACE FUNCTION add_one(a INTEGER) RETURNS INTEGER AS $$
        BEGIN
          RETURN a + 1;
        END;
        $$ LANGUAGE plpgsql;
        ALTER TABLE orders ADD COLUMN x INT;
        INSERT INTO orders VALUES (1, 'a');
        CREATE PROCEDURE foo() LANGUAGE SQL AS $$ SELECT 1 $$;
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TRIGGER t1 BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f();
        """,
        """
        table shop.orders 2-5 doc 1-1
          field id 3-3
          field name 4-4
        key idx_name 6-6
        table big 7-7
        function add_one 8-12
        field x 13-13
        function foo 15-15
        type mood 16-16
        function t1 17-17
        """,
    )
