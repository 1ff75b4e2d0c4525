"""Measurements with a real language model, small enough for two cores, or any other that speaks the wire."""
