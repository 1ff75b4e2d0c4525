"""What the agents can do: run, look up, search, read, plan, leave the loop, try another agent."""
