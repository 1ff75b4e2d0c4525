"""Who refers to whom, and the rank that follows from it."""
