"""The fast joint controller: modes, safety, policy tracking, and what keeps a 3-D robot upright under a planar plan."""
