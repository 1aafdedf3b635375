"""What the closed loop in lock-step bears: disturbances, faults, parameters, and either variant of the solver."""
