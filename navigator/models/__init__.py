"""Model names, their providers and prices, and the port to the client's own model."""
