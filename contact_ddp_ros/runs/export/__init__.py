"""A recorded run for other programs to look at: MCAP for Foxglove, and rerun."""
