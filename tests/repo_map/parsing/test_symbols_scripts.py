"""What is defined in Python, JavaScript and TypeScript: a small file each, and its outline."""

from __future__ import annotations

from tests.support.outlines import check


def test_a_python_file_gives_its_definitions() -> None:
    check(
        "cart.py",
        '''
        """Carts."""
        from __future__ import annotations

        import os.path
        from shop.db import Store, Row as R

        LIMIT = 10


        @service
        @cached(
            size=3,
        )
        class Cart(Base):
            """Keeps items.

            For one user.
            """

            total: int = 0

            async def add(
                self, item: Item, count: int = 1
            ) -> bool:
                # Not a docstring.
                def check(n):
                    'Tells.'
                    return n > 0

                return check(count) and f"{item.name}" != "Ignored"

            @property
            def size(self): return len(self.items)


        if LIMIT:
            def guarded(): pass
        ''',
        """
        constant LIMIT 7-7
        class Cart 10-33 sig 14-14 doc 15-18
          field total 20-20
          method add 22-30 sig 22-24
            function check 26-28 doc 27-27
          method size 32-33 sig 33-33
        function guarded 37-37
        """,
    )


def test_a_javascript_file_gives_its_definitions() -> None:
    check(
        "cart.js",
        """
        import fs, { join as j } from 'fs';
        const path = require('path');

        /** Adds one. */
        export async function add(item,
          count) {
          function check(n) { return n > 0; }
          return check(count);
        }

        export const total = (items) =>
          items.reduce((a, b) => a + b, 0);

        export default class Cart extends Base {
          static limit = 10;
          handler = () => { this.save(); };
          #secret() { return `${hidden} words`; }
          get size() { return 1; }
        }

        const api = {
          get() { return 1; },
          'put-it': async () => {},
        };
        Cart.prototype.clear = function () {};
        module.exports.run = function* () {};
        const Wrapped = memo((props) => {
          return render(props);
        });
        """,
        """
        constant path 2-2
        function add 5-9 sig 5-6 doc 4-4
          function check 7-7
        function total 11-12
        class Cart 14-19
          field limit 15-15
          method handler 16-16
          method #secret 17-17
          method size 18-18
        constant api 21-24
          method get 22-22
          method put-it 23-23
        function Cart.clear 25-25
        function run 26-26
        function Wrapped 27-29
        """,
    )


def test_a_typescript_file_gives_its_definitions() -> None:
    check(
        "cart.ts",
        """
        import type { Store } from './store';
        export * from "./all";

        export interface Closer {
          name: string;
          close(force: boolean): void;
        }
        type Names = string[];
        export enum Color { Red, Green }
        declare function over(a: string): void;
        export abstract class Cart<T> implements Closer {
          private readonly store: Store;
          constructor(private a: string) {}
          @Input()
          @Other()
          get size(): number { return 1; }
          abstract drain(): void;
          add = async (item: T): Promise<void> => {
            await this.store.put(item);
          };
        }
        @Component({ tag: 'x' })
        export class Widget {}
        namespace Shop.Inner { export function go() {} }
        """,
        """
        interface Closer 4-7
          field name 5-5
          method close 6-6
        type Names 8-8
        enum Color 9-9
        function over 10-10
        class Cart 11-21
          field store 12-12
          method constructor 13-13
          method size 14-16 sig 16-16
          method drain 17-17
          method add 18-20
        class Widget 22-23 sig 23-23
        module Shop.Inner 24-24
          function go 24-24
        """,
    )


def test_a_tsx_file_gives_its_definitions() -> None:
    check(
        "view.tsx",
        """
        export const View: FC<Props> = ({ name }) => {
          const onClick = useCallback(() => go(name), [name]);
          return <Button onClick={onClick}>Hello {name}</Button>;
        };
        export default function App(): JSX.Element {
          return <View name="x" />;
        }
        """,
        """
        function View 1-4
          function onClick 2-2
        function App 5-7
        """,
    )
