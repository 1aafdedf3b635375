"""Contact estimation: loaded feet and the ground below them, from joints, drives and the trunk's pose."""
