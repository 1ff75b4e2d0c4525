"""The measurements of the check."""
