"""Runs: the closed loop, its recordings, reports, exports and studies."""
