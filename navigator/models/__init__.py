"""Which models there are by name, and what is sent to them and read of them."""
