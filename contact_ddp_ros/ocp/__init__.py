"""Hybrid differential dynamic programming for any problem of :mod:`contact_ddp_ros.ocp.protocol`; no robotics."""
