"""How goods leave the warehouse."""
