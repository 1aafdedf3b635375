"""The simulated ground, of which planner and controller know nothing: shapes, the words for them, scene files."""
