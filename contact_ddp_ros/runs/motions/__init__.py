"""Motions that are no gaits: jumps, flips and recoveries, optimised offline by the hybrid DDP and executed once."""
