"""Hybrid differential dynamic programming for any problem that satisfies the protocol; knows no robot."""
