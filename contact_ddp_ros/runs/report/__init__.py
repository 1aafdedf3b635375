"""Report of a recorded run: summary, plots, video, live progress and the closing table."""
