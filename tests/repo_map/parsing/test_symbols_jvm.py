"""What is defined in Java, Kotlin and Scala: a small file each, and its outline."""

from __future__ import annotations

from tests.support.outlines import check


def test_a_java_file_gives_its_definitions() -> None:
    check(
        "Cart.java",
        """
        package shop;

        import java.util.List;
        import static shop.Util.*;

        /** Keeps items. */
        @Service
        @Named("cart")
        public class Cart<T> extends Base implements Closer {
            private static final int MAX = 5, MIN = 1;

            public Cart(Store store) {
                this.store = store;
            }

            // Adds one.
            @Override
            public boolean add(
                    Item item)
            {
                Runnable r = new Runnable() {
                    @Override public void run() { item.touch(); }
                };
                return store.put(item);
            }

            enum Color { RED, GREEN { void mix() {} }; int rgb; }
            record Pair(int a, int b) {}
            @interface Marker { String value(); }
            interface Closer { void close(); }
        }
        """,
        """
        class Cart 7-31 sig 9-9 doc 6-6
          field MAX 10-10
          field MIN 10-10
          method Cart 12-14
          method add 17-25 sig 18-19 doc 16-16
            method run 22-22
          enum Color 27-27
            constant RED 27-27
            constant GREEN 27-27
            field rgb 27-27
          class Pair 28-28
          interface Marker 29-29
            method value 29-29
          interface Closer 30-30
            method close 30-30
        """,
    )


def test_a_kotlin_file_gives_its_definitions() -> None:
    check(
        "Cart.kt",
        """
        package com.shop

        import com.shop.db.Store
        import java.util.*

        /** Keeps carts. */
        @Service
        class CartService(private val store: Store) : Base(), Closer {
            val limit: Int = 10

            companion object {
                const val MAX = 5
                fun create(): CartService = CartService(Store())
            }

            // Adds one.
            override fun add(
                item: Item,
            ): Boolean {
                fun check(x: Int) = x > 0
                return check(item.count)
            }
        }

        interface Closer {
            fun close()
        }

        enum class Color(val rgb: Int) {
            RED(1),
            GREEN(2);

            fun hex() = "$rgb"
        }

        object Registry {
            val all = listOf<Int>()
        }

        typealias Names = List<String>

        fun String.shout(): String = uppercase()
        """,
        """
        class CartService 7-23 sig 8-8 doc 6-6
          field store 8-8
          field limit 9-9
          class Companion 11-14
            field MAX 12-12
            method create 13-13
          method add 17-22 sig 17-19 doc 16-16
            function check 20-20
        interface Closer 25-27
          method close 26-26
        enum Color 29-34
          field rgb 29-29
          constant RED 30-30
          constant GREEN 31-31
          method hex 33-33
        class Registry 36-38
          field all 37-37
        type Names 40-40
        function shout 42-42
        """,
    )


def test_a_scala_file_gives_its_definitions() -> None:
    check(
        "Cart.scala",
        """
        package shop

        import shop.db.{Store, Row => R}
        import scala.collection.mutable._

        /** Keeps carts. */
        @deprecated
        class CartService(store: Store) extends Base with Closer {
          val limit: Int = 10
          var n = 0
          // Adds one.
          override def add(item: Item): Boolean = {
            def check(x: Int) = x > 0
            check(item.count)
          }
          def abs: Int
        }
        trait Closer { def close(): Unit }
        object CartService { val Max = 5; def apply(): CartService = new CartService(null) }
        case class P(x: Int)
        type Names = List[String]
        enum Color { case Red, Green }
        given ord: Ordering[Int] with { def compare(a: Int, b: Int) = 0 }
        """,
        """
        class CartService 7-17 sig 8-8 doc 6-6
          field limit 9-9
          field n 10-10
          method add 12-15 doc 11-11
            function check 13-13
          method abs 16-16
        trait Closer 18-18
          method close 18-18
        class CartService 19-19
          field Max 19-19
          method apply 19-19
        class P 20-20
        type Names 21-21
        enum Color 22-22
          constant Red 22-22
          constant Green 22-22
        impl ord 23-23
          method compare 23-23
        """,
    )
