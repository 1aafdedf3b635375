"""What the robot feels: which feet carry load, and the ground below them, from joints, drives and the trunk's pose."""
