"""The stages of the structured workflow, in the order in which they run."""
