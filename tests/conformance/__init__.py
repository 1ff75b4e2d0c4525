"""The official conformance suite and the official Inspector, run against the server's own wiring."""
