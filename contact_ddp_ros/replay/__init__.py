"""Repetition of a recorded run's solves from its recorded states, and comparison of the resulting policies."""
