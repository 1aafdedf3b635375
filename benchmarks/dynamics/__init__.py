"""What the partials of the dynamics cost, and how that grows with the size of the model."""
