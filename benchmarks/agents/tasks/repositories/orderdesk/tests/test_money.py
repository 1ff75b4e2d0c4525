import unittest

from orderdesk.billing.money import percent, show, split


class MoneyTest(unittest.TestCase):
    def test_half_a_cent_is_rounded_up(self) -> None:
        self.assertEqual(percent(50, 9), 5)

    def test_parts_add_up(self) -> None:
        self.assertEqual(split(100, [1, 1, 1]), [34, 33, 33])

    def test_amounts_are_written_with_two_digits(self) -> None:
        self.assertEqual(show(-1205), "-12.05 EUR")
