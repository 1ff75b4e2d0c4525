"""Who calls, what they may read and spend, and what is counted of it."""
