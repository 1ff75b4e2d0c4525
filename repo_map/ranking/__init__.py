"""A goal in, scores of files and units out, each with its reasons."""
