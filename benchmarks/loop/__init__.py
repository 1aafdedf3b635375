"""Limits of the closed loop in lock-step: disturbances, faults, parameters, and either variant of the solver."""
