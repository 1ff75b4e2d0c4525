"""Which trees a navigation reads, and what is computed of them."""
