"""What is planned for: models of the robot with fewer or all of its coordinates."""
