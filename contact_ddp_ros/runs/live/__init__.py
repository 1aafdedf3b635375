"""Messages between a live run and whoever watches and commands it."""
