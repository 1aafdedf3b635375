"""What the package understands of a quadruped's URDF, what is missing, and a robot's file to start from."""
