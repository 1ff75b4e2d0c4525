"""Tests of what the documents say."""
