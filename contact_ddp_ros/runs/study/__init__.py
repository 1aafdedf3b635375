"""Studies: the closed loop run at every point of a grid of parameters, and what became of the robot there."""
