"""What a customer has chosen."""

from prices import discount, total


class Cart:
    """Holds things until they are paid for."""

    def __init__(self) -> None:
        self.prices: list[int] = []

    def sum(self, percent: int) -> int:
        return discount(total(self.prices), percent)
