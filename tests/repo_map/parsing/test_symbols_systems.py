"""What is defined in C, C++, Go and Rust: a small file each, and its outline."""

from __future__ import annotations

from repo_map.languages.c import without_macro_words
from tests.support.outlines import check


def test_a_c_file_gives_its_definitions() -> None:
    check(
        "cart.c",
        r"""
        #include <stdio.h>
        #include "cart.h"

        #ifndef LIMIT
        #define LIMIT 10
        #define MAX(a, b) \
            ((a) > (b) ? (a) : (b))
        #endif

        /* One item. */
        typedef struct item {
            int count;
            struct item *next, *prev;
        } item_t;

        enum color { RED, GREEN = 2 };
        static const char *names[] = { "a", "b" };
        int cart_add(struct item *i, int n);

        /*
         * Adds one.
         */
        static struct item *
        cart_find(const char *name, int (*match)(const char *))
        {
            return lookup(name, match);
        }

        int old_style(a, b)
            int a;
            char b;
        {
            return a + b;
        }
        """,
        """
        constant LIMIT 5-5
        macro MAX 6-7
        type item_t 11-14 doc 10-10
          struct item 11-14 doc 10-10
            field count 12-12
            field next 13-13
            field prev 13-13
        enum color 16-16
          constant RED 16-16
          constant GREEN 16-16
        constant names 17-17
        function cart_add 18-18
        function cart_find 23-27 sig 23-24 doc 20-22
        function old_style 29-34 sig 29-31
        """,
    )


def test_a_cpp_file_gives_its_definitions() -> None:
    check(
        "cart.cpp",
        """
        #include <vector>

        namespace shop::cart {

        /// Keeps items.
        template <typename T>
        class Cart : public Base<T> {
        public:
            explicit Cart(Store *store) : store_(store) {}
            ~Cart() = default;
            virtual bool add(const T &item) const = 0;
            template <class U> U get() { return U(); }
            bool operator==(const Cart &o) const { return true; }
            explicit operator bool() const { return true; }
        private:
            Store *store_ = nullptr;
            enum class Color { Red, Green };
        };

        using Names = std::vector<int>;

        }  // namespace shop::cart

        template <>
        bool shop::cart::Cart<int>::add(const int &item) const
        {
            struct Local { int x; };
            return store_->put(item);
        }

        std::string &Shop::name() { return name_; }
        extern "C" { int c_entry(void) { return 1; } }
        """,
        """
        module shop::cart 3-22
          class Cart 6-18 sig 7-7 doc 5-5
            method Cart 9-9
            method ~Cart 10-10
            method add 11-11
            method get 12-12
            method operator== 13-13
            method operator bool 14-14
            field store_ 16-16
            enum Color 17-17
              constant Red 17-17
              constant Green 17-17
          type Names 20-20
        function shop.cart.Cart.add 24-29 sig 25-25
          struct Local 27-27
            field x 27-27
        function Shop.name 31-31
        function c_entry 32-32
        """,
    )


def test_a_macro_in_the_head_of_a_cpp_class_or_function_is_no_name() -> None:
    check(
        "shop.hpp",
        """
        namespace shop {
        class SHOP_API Cart : public Basket {
          int count() const SHOP_NOEXCEPT { return 1; }
          void add(int n)
              SHOP_EXCLUSIVE_LOCK_REQUIRED_(lock) { n_ = n; }
          int n_;
        };
        struct [[nodiscard]] SHOP_EXPORT(1) Item final {
          int price;
        };
        }
        """,
        """
        module shop 1-11
          class Cart 2-7
            method count 3-3
            method add 4-5 sig 4-5
            field n_ 6-6
          struct Item 8-10
            field price 9-9
        """,
    )


def test_a_macro_that_stands_for_a_statement_or_a_value_of_cpp_stays() -> None:
    source = (
        b"void run() {\n  if (a) SHOP_CHECK(b);\n  for (;;) SHOP_EACH(x) { f(); }\n"
        b"  struct SHOP_INFO info{1};\n}\nSHOP_TEST(a)\nSHOP_CASE(b) { }\n"
    )
    assert without_macro_words(source) == source


def test_a_go_file_gives_its_definitions() -> None:
    check(
        "cart.go",
        """
        package shop

        import (
            "fmt"
            db "shop/db"
        )

        // Cart keeps items.
        type Cart struct {
            Items []Item
            store *db.Store
        }

        type Closer interface {
            Close() error
        }

        type (
            Names []string
            Alias = Cart
        )

        const Max, Min = 5, 1

        var run = func() { fmt.Println() }

        // Add adds one.
        func (c *Cart) Add(
            item Item,
        ) error {
            return c.store.Put(item)
        }

        func New[T any](s *db.Store) *Cart { return &Cart{store: s} }
        """,
        """
        struct Cart 9-12 doc 8-8
          field Items 10-10
          field store 11-11
        interface Closer 14-16
          method Close 15-15
        type Names 19-19
        type Alias 20-20
        constant Max 23-23
        function run 25-25
        method Cart.Add 28-32 sig 28-30 doc 27-27
        function New 34-34
        """,
    )


def test_a_rust_file_gives_its_definitions() -> None:
    check(
        "cart.rs",
        """
        use std::{fmt, io::Read as R};

        /// A cart.
        #[derive(Debug)]
        pub struct Cart<T> {
            pub items: Vec<T>,
        }

        enum Color { Red, Mixed { a: u8 } }

        impl<T> fmt::Display for Cart<T>
        where
            T: Clone,
        {
            const MAX: usize = 5;

            /// Shows.
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                fn inner<'a>(x: &'a str) {}
                write!(f, "{total}", total = self.items.len())
            }
        }

        pub trait Closer { type Out; fn close(&self); }
        macro_rules! cart { () => {}; }
        mod tests {
            #[test]
            fn works() { super::Cart::new(); }
        }
        """,
        """
        struct Cart 4-7 sig 5-5 doc 3-3
          field items 6-6
        enum Color 9-9
          constant Red 9-9
          constant Mixed 9-9
            field a 9-9
        impl Cart 11-23 sig 11-13
          field MAX 15-15
          method fmt 18-22 sig 19-19 doc 17-17
            function inner 20-20
        trait Closer 25-25
          type Out 25-25
          method close 25-25
        macro cart 26-26
        module tests 27-30
          function works 28-29 sig 29-29
        """,
    )
