"""One step of a navigation: request, decision, plan, outline, context."""
