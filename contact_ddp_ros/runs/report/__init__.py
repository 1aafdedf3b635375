"""From a recorded run to what people read: summary, plots, video, live progress and the closing table."""
