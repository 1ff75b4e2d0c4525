"""Model providers on loopback: they speak the real wire, and a scripted mind stands behind each."""
