"""The fast joint controller: modes, safety, policy tracking."""
