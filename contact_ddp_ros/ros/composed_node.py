"""The controller and the robot's interface in one process, between which states and commands bypass the middleware.

    composed_node simulator|gazebo_bridge|bridge|unitree [--ros-args ...]

The nodes are those of two processes, with their names, parameters, services and topics; only `joint_states`, `odom` and
`joint_command` are handed over within the process (:mod:`contact_ddp_ros.ros.exchange`), and a controller
elsewhere cannot command this robot. If one of the two ends, so does the other.
"""

import sys
from importlib import import_module

from contact_ddp_ros.ros import controller_node
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.exchange import keep_local
from contact_ddp_ros.ros.runtime import REFUSED, run_parts

ROBOTS = {
    "simulator": "simulator_node",
    "gazebo_bridge": "gazebo_bridge_node",
    "bridge": "lcm_bridge_node",
    "unitree": "unitree_node",
}
"""Nodes that may play the robot, and their modules, of which only the wanted one is imported."""


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    module = ROBOTS.get(given[0] if given else "")
    if module is None:
        found = given[0] if given else "nothing"
        print(f"composed_node: {found} was given to play the robot; allowed: {', '.join(ROBOTS)}", file=sys.stderr)
        return REFUSED
    keep_local([io.JOINT_STATES, io.ODOM, io.JOINT_COMMAND])
    robot = import_module(f"contact_ddp_ros.ros.{module}").PART
    return run_parts([robot, controller_node.PART], given[1:])


if __name__ == "__main__":
    sys.exit(main())
