"""Which turns run: one at a time in a navigation, few at once, each carried out on models and stores."""
