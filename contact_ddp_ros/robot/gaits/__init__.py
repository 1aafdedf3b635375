"""Discrete structure of a hybrid optimal control problem: modes, their schedule and the knot grid."""
