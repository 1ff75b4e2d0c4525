import unittest

from orderdesk.catalog.products import Product
from orderdesk.catalog.search import search, suggest


class SearchTest(unittest.TestCase):
    def setUp(self) -> None:
        self.products = [Product("Blue lamp", 900, tags={"light"}), Product("Desk lamp", 1900), Product("Chair", 4900)]

    def test_the_product_with_more_of_the_words_comes_first(self) -> None:
        self.assertEqual([product.name for product in search(self.products, "desk lamp")], ["Desk lamp", "Blue lamp"])

    def test_names_are_suggested_while_typing(self) -> None:
        self.assertEqual(suggest(self.products, "b"), ["Blue lamp"])
