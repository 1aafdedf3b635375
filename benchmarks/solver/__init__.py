"""What the solver's iterations cost, how fast they converge and to what."""
