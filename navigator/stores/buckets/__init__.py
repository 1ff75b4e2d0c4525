"""Buckets: what one must do, and the storages that do it; a storage's client is imported when named."""
