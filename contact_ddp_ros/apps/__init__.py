"""Command line and live page: what a person starts, generated from the declared parameters."""
