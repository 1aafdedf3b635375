"""Behaviour of processes: on the wall clock, over LCM and ROS 2, for hours, in another physics engine, at start-up."""
