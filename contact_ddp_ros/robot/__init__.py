"""The robot as data: description, joints, states and commands."""
