"""Secrets of known formats, masked before anybody reads them."""
