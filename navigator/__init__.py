"""The navigator: an agent that adjusts a flight plan until the map holds what a task needs."""
