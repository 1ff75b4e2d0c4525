"""Packing what was ordered into parcels."""

from dataclasses import dataclass, field

PARCEL_LIMIT_GRAMS = 20_000


@dataclass
class Parcel:
    """A box, and the weights of what lies in it."""

    items: list[tuple[str, int]] = field(default_factory=list)

    def grams(self) -> int:
        """Return what the parcel weighs."""
        return sum(grams for _, grams in self.items)

    def fits(self, grams: int) -> bool:
        """Tell whether one more thing may be put in."""
        return self.grams() + grams <= PARCEL_LIMIT_GRAMS


def pack(items: list[tuple[str, int]]) -> list[Parcel]:
    """Put the heaviest things first into the first parcel that still takes them."""
    parcels: list[Parcel] = []
    for sku, grams in sorted(items, key=lambda item: (-item[1], item[0])):
        if grams > PARCEL_LIMIT_GRAMS:
            raise ValueError(f"{sku} is too heavy for a parcel")
        for parcel in parcels:
            if parcel.fits(grams):
                parcel.items.append((sku, grams))
                break
        else:
            parcels.append(Parcel([(sku, grams)]))
    return parcels
