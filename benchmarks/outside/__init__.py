"""Benchmarks that others made: their tasks and their rules, on our answer as a host is sent it.

Their data is read from a folder that the user names. Some of their repositories are among those that nothing
here is ever tuned on, so these figures are measured and reported, and no rule or weight follows from them.
"""
