"""Jumps and flips as optimal control problems, solved offline."""
