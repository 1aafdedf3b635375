"""Robot models of the planner: all coordinates, or those of the sagittal plane."""
