"""What is planned for: models of the robot with fewer or all of its coordinates."""

PLANAR, WHOLE_BODY = MODEL_NAMES = ("planar", "whole_body")
"""Names of the models: the sagittal plane, or all coordinates."""
