"""The live page: a browser view of the bounding robot, from which it is driven, pushed and tuned.

The loop of physics, planner and controller runs in a process of its own (:mod:`contact_ddp_ros.apps.play.session`); the
page (:mod:`contact_ddp_ros.apps.play.page`) sends it commands and draws its snapshots, of which only the newest counts.
"""
