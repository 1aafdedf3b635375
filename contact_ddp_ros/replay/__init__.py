"""Plans of a recorded run made again from its recorded states, and how far they are from those that were followed."""
