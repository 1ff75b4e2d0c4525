"""Learns what the package ships as data: the weights of relevance and the words of sureness."""
