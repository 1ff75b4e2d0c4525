"""What is defined in Ruby, Lua, Elixir and Bash: a small file each, and its outline."""

from __future__ import annotations

from tests.support.outlines import check


def test_a_ruby_file_gives_its_definitions() -> None:
    check(
        "cart.rb",
        """
        require 'json'
        require_relative "lib/store"

        # Keeps carts.
        module Shop
          class CartService < Base
            MAX = 5
            attr_reader :store
            include Closer

            # Adds one.
            def add(item,
                    count: 1)
              items << item
            end

            def self.create; new; end
            class << self
              def build(x) = new(x)
            end
            define_method(:foo) { |x| x }
            private def hidden; end
          end
        end
        """,
        """
        module Shop 5-24 doc 4-4
          class CartService 6-23
            field MAX 7-7
            field store 8-8
            method add 12-15 sig 12-13 doc 11-11
            method create 17-17
            method build 19-19
            method foo 21-21
            method hidden 22-22
        """,
    )


def test_a_lua_file_gives_its_definitions() -> None:
    check(
        "cart.lua",
        """
        local json = require("json")
        -- Keeps carts.
        local Cart = {}
        Cart.__index = Cart
        local MAX = 5

        --- Adds one.
        function Cart:add(item, count)
          local function check(x) return x > 0 end
          return check(item)
        end
        function Cart.new() return setmetatable({}, Cart) end
        local function helper() end
        Cart.remove = function(self) end
        local M = { run = function() end, size = 3 }
        local f = function() return 1 end
        return Cart
        """,
        """
        constant json 1-1
        constant Cart 3-3 doc 2-2
        constant MAX 5-5
        function Cart.add 8-11 doc 7-7
          function check 9-9
        function Cart.new 12-12
        function helper 13-13
        function Cart.remove 14-14
        constant M 15-15
          function run 15-15
        function f 16-16
        """,
    )


def test_an_elixir_file_gives_its_definitions() -> None:
    check(
        "cart.ex",
        '''
        defmodule Shop.Cart do
          @moduledoc """
          Keeps carts.
          """
          use GenServer
          alias Shop.{Store, Item}
          import Enum, only: [map: 2]
          @max 5
          defstruct [:a, :b]
          @type t :: %__MODULE__{}

          @doc """
          Adds one.
          """
          @spec add(t, integer) :: t
          def add(%{a: a} = cart, item) when is_integer(item) do
            check(item)
          end
          def size(cart), do: 1
          defp check(x), do: x
          defmacro mac(x) do
            quote do: unquote(x)
          end
          defguard is_pos(x) when x > 0
        end
        defprotocol P do
          def go(x)
        end
        defimpl P, for: Integer do
          def go(x), do: x
        end
        ''',
        """
        module Shop.Cart 1-25 doc 2-4
          constant max 8-8
          struct defstruct 9-9
          type t 10-10
          function add 12-18 sig 16-16 doc 12-14
          function size 19-19
          function check 20-20
          macro mac 21-23
          function is_pos 24-24
        interface P 26-28
          method go 27-27
        module P 29-31
          function go 30-30
        """,
    )


def test_a_bash_file_gives_its_definitions() -> None:
    check(
        "cart.sh",
        """
        #!/bin/bash
        source ./lib.sh
        . "$DIR/more.sh"
        LIMIT=10
        readonly NAME="x"
        export PATH_X=/usr
        # Adds one.
        add() {
          local item="$1"
          inner() { echo hi; }
          check "$item" | grep x
        }
        function remove {
          echo "$LIMIT"
        }
        alias ll='ls -l'
        """,
        """
        constant LIMIT 4-4
        constant NAME 5-5
        constant PATH_X 6-6
        function add 8-12 doc 7-7
          function inner 10-10
        function remove 13-15
        """,
    )
