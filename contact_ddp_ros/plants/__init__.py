"""Plants: what plays the robot, MuJoCo, DART, Bullet, Gazebo and the robot behind LCM, and the ground under it."""
