"""Products and their variants."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variant:
    """One size or colour of a product, with its own article number."""

    sku: str
    label: str
    grams: int


@dataclass
class Product:
    """Something on sale; prices are in cents."""

    name: str
    cents: int
    variants: list[Variant] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)

    def variant(self, sku: str) -> Variant:
        """Return the variant with that article number."""
        for variant in self.variants:
            if variant.sku == sku:
                return variant
        raise KeyError(f"{self.name} has no variant {sku}")

    def heaviest(self) -> Variant:
        """Return the variant that weighs most."""
        return max(self.variants, key=lambda variant: variant.grams)

    def tagged(self, *wanted: str) -> bool:
        """Tell whether the product carries all the tags."""
        return self.tags.issuperset(wanted)
