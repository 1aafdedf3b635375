"""Several recorded runs beside each other: what differs in how they were made, their figures, their courses."""
