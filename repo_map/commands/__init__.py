"""What ``repo-map`` does for each of its commands."""
