"""What of a repository nobody is shown: files that hold keys by their name, secrets within others."""
