"""Feedback in words, understood without a model: what it changes in a plan, and what it asks."""

from repo_map.steering.steer import Steering, steer

__all__ = ["Steering", "steer"]
