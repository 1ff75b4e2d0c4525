"""Which of many repositories a goal is about, told by a small summary of each."""
