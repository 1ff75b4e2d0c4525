import unittest

from orderdesk.catalog.stock import OutOfStockError, Stock


class StockTest(unittest.TestCase):
    def test_pieces_that_are_promised_are_not_free(self) -> None:
        stock = Stock()
        stock.receive("A1", 5)
        stock.reserve("A1", 3)
        self.assertEqual(stock.available("A1"), 2)

    def test_nobody_is_promised_more_than_there_is(self) -> None:
        stock = Stock()
        stock.receive("A1", 5)
        with self.assertRaises(OutOfStockError):
            stock.reserve("A1", 6)

    def test_a_shipped_order_leaves_the_rest_free(self) -> None:
        stock = Stock()
        stock.receive("A1", 5)
        stock.reserve("A1", 3)
        stock.ship("A1", 3)
        self.assertEqual(stock.available("A1"), 2)
