"""Motions that are no gaits: jumps and flips, optimised offline by the hybrid DDP and executed once, stand to stand."""
