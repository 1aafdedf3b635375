"""Full second-order MPC of the sagittal plane for the bounding MIT Mini Cheetah, as a ROS 2 package."""

__version__ = "0.1.0"
