"""Files and commits that are stuffed with a goal's words, and what they displace."""
