"""How many pieces lie in the warehouse, and which are promised to someone."""


class OutOfStockError(Exception):
    """Fewer pieces are free than were asked for."""


class Stock:
    """Counts pieces by article number."""

    def __init__(self) -> None:
        self._on_hand: dict[str, int] = {}
        self._reserved: dict[str, int] = {}

    def receive(self, sku: str, pieces: int) -> None:
        """Book a delivery from a supplier."""
        if pieces <= 0:
            raise ValueError("a delivery brings at least one piece")
        self._on_hand[sku] = self._on_hand.get(sku, 0) + pieces

    def available(self, sku: str) -> int:
        """Return how many pieces nobody has been promised."""
        return self._on_hand.get(sku, 0) - self._reserved.get(sku, 0)

    def reserve(self, sku: str, pieces: int) -> None:
        """Promise pieces to an order."""
        if pieces > self.available(sku):
            raise OutOfStockError(f"{sku}: {self.available(sku)} free, {pieces} wanted")
        self._reserved[sku] = self._reserved.get(sku, 0) + pieces

    def release(self, sku: str, pieces: int) -> None:
        """Take a promise back, as when an order is cancelled."""
        self._reserved[sku] = max(0, self._reserved.get(sku, 0) - pieces)

    def ship(self, sku: str, pieces: int) -> None:
        """Book promised pieces as gone."""
        self.release(sku, pieces)
        self._on_hand[sku] -= pieces
