"""Feedback in words, understood without a model: what it changes in a plan, and what it asks."""
