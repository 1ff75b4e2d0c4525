"""What is defined in C#, Swift and PHP: a small file each, and its outline."""

from __future__ import annotations

from tests.support.outlines import check


def test_a_csharp_file_gives_its_definitions() -> None:
    check(
        "Cart.cs",
        """
        using System;
        using Text = System.Text;
        namespace Shop.Carts
        {
            /// <summary>Keeps carts.</summary>
            [Serializable]
            public class CartService : Base, ICloser
            {
                private readonly int limit = 10, other;
                public const int Max = 5;
                public int Count { get; private set; }
                public event EventHandler Changed;
                public CartService(Store store) { this.store = store; }
                ~CartService() { }
                // Adds one.
                [Obsolete]
                public override bool Add(
                    Item item)
                {
                    bool Check(int x) => x > 0;
                    return Check(item.Count);
                }
                public static CartService operator +(CartService a, CartService b) => a;
                public int this[int i] { get { return i; } }
            }
            interface ICloser { void Close(); }
            enum Color { Red, Green = 2 }
            struct P { public int X; }
            public record R(int A);
            delegate int Op(int a);
        }
        """,
        """
        module Shop.Carts 3-31
          class CartService 6-25 sig 7-7 doc 5-5
            field limit 9-9
            field other 9-9
            field Max 10-10
            field Count 11-11
            field Changed 12-12
            method CartService 13-13
            method CartService 14-14
            method Add 16-22 sig 17-18 doc 15-15
              function Check 20-20
            method + 23-23
            method this 24-24
          interface ICloser 26-26
            method Close 26-26
          enum Color 27-27
            constant Red 27-27
            constant Green 27-27
          struct P 28-28
            field X 28-28
          class R 29-29
          type Op 30-30
        """,
    )


def test_a_swift_file_gives_its_definitions() -> None:
    check(
        "Cart.swift",
        """
        import Foundation
        @testable import Shop

        /// Keeps carts.
        @objc
        public final class CartService: Base, Closer {
            static let max = 5
            var limit: Int { return 10 }
            init(store: Store) { self.store = store }
            deinit { }
            // Adds one.
            @discardableResult
            override func add(_ item: Item,
                              count: Int) -> Bool {
                func check() -> Bool { true }
                return check()
            }
            subscript(i: Int) -> Int { return i }
        }
        protocol Closer { func close(); var open: Bool { get } }
        enum Color { case red
          func hex() -> String { "" } }
        struct P<T> { let x: T }
        extension P where T == Int { func sum() -> Int { 0 } }
        typealias Names = [String]
        func shout(_ s: String) -> String { s }
        let topLevel = 3
        actor Bank { func pay() {} }
        """,
        """
        class CartService 5-19 sig 6-6 doc 4-4
          field max 7-7
          field limit 8-8
          method init 9-9
          method deinit 10-10
          method add 12-17 sig 13-14 doc 11-11
            function check 15-15
          method subscript 18-18
        interface Closer 20-20
          method close 20-20
          field open 20-20
        enum Color 21-22
          constant red 21-21
          method hex 22-22
        struct P 23-23
          field x 23-23
        impl P 24-24
          method sum 24-24
        type Names 25-25
        function shout 26-26
        constant topLevel 27-27
        class Bank 28-28
          method pay 28-28
        """,
    )


def test_a_php_file_gives_its_definitions() -> None:
    check(
        "cart.php",
        r"""
        <?php
        namespace Shop\Carts;

        use Shop\Db\Store;
        use Shop\Db\{Row, Col as C};
        require_once 'lib.php';

        /**
         * Keeps carts.
         */
        #[Service]
        final class CartService extends Base implements Closer
        {
            use Loggable;
            const MAX = 5;
            private int $limit = 10;

            public function __construct(private Store $store) {}

            /** Adds one. */
            #[Pure]
            public function add(Item $item): bool
            {
                $f = function ($x) { return $x; };
                return true;
            }
        }
        interface Closer { public function close(): void; }
        trait Loggable { function log() {} }
        enum Color: string { case Red = 'r'; }
        function helper($a) { return fn($x) => $x; }
        define('LIMIT', 3);
        const TOP = 1;
        """,
        """
        class CartService 11-27 sig 12-12 doc 8-10
          field MAX 15-15
          field limit 16-16
          method __construct 18-18
            field store 18-18
          method add 21-26 sig 22-22 doc 20-20
        interface Closer 28-28
          method close 28-28
        trait Loggable 29-29
          method log 29-29
        enum Color 30-30
          constant Red 30-30
        function helper 31-31
        constant TOP 33-33
        """,
    )
