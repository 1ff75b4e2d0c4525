"""Flight plans: the model, its YAML, partial updates."""
