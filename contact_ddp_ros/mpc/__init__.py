"""The optimal control problem of a gait, its references, and the receding horizon that solves it."""
