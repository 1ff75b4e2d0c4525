"""What a plan asks of each file: its level, and the levels of its parts."""
