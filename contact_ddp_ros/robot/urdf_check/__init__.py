"""Check of a quadruped's URDF: legs found, properties missing, and a robot's file to start from."""
