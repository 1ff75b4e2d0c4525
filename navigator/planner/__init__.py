"""One step of a navigation: what is asked, decided, revised, offered and told."""
