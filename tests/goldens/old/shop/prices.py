"""What things cost."""


def total(prices: list[int]) -> int:
    """Add up the prices of a cart."""
    return sum(prices)


def discount(price: int, percent: int) -> int:
    """Take a discount off a price; 100 % makes it free."""
    return price - price * percent // 100
