"""The measurements that back every claim, in rooms by question.

    dynamics    what partials cost, and how that grows with the model
    solver      what an iteration costs, how it converges, beside the paper's numbers
    loop        what the closed loop in lock-step bears
    ros         what processes do on the wall clock, over LCM and ROS 2, for hours, in another physics engine
    peers       what other solvers make of the same problem
    suite       what ours and IPOPT make of problems that others have published

Every benchmark is a :class:`benchmarks.benchmark.Benchmark` by the name `BENCHMARK` in a module of its own.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.benchmark import Benchmark

ROOMS: dict[str, dict[str, str]] = {
    "solver": {
        "convergence": "observed order of DDP and iLQR near an optimum, across impacts, touchdown and limits",
        "trajopt": "the paper's bound from many perturbed starts: time, cost and feasibility of iLQR and both DDPs",
        "solver": "time per iteration, kernels, convergence, in the loop and until ready, beside Crocoddyl",
        "shooting": "multiple beside single shooting from bad guesses and over long horizons",
        "motions": "jumps and a back flip by full DDP and by iLQR, and how often they land in perturbed worlds",
        "integrators": "error of each integration scheme against its step and the time of an iteration",
    },
    "dynamics": {
        "partials": "partials of the dynamics against n, by mRNEAc and by tensors",
    },
    "ros": {
        "latency": "the way of a state to the torque that answers it, hop by hop, over LCM and ROS 2",
        "gazebo": "the bound in DART, Gazebo's engine, behind Gazebo's topics beside the same in MuJoCo",
        "realtime": "the live nodes on a machine with other work: neighbours, observers that come and go, stalled "
        "planners",
        "processor": "the planner built without AVX, under a quota of a core, and slow in lock-step",
        "soak": "an hour of simulated bounding through the real nodes: memory, rates, faults, falls",
    },
    "peers": {
        "peers": "the same bound by Crocoddyl, CSQP, FATROP and IPOPT: the optimum, time to it, over the horizon",
    },
    "suite": {
        "classical": "79 problems of textbooks and collections from 10 starts each, beside IPOPT",
        "suite": "500 published instances with contact, friction and obstacles: exact and Gauss-Newton Hessians, IPOPT",
    },
    "loop": {
        "reliability": "faults of state, policy, velocity command and clock, injected while the robot bounds",
        "parameters": "every parameter to its bounds and beyond while the robot bounds: what is held, what is refused",
        "robustness": "pushes, friction, mass, delay and speeds in the closed loop",
        "gaits": "every gait under commands ahead, to the side and around, of the whole body",
        "estimation": "every gait on the estimated state: true speed, velocity error, drift",
        "robots": "quadrupeds of others from their URDFs as they are: trot, bound, turn, push",
        "joystick": "random full-range commands to every gait, with changes of gait and trunk pose: falls",
        "world": "slopes, steps, boxes, loads, errors and delays that the plan does not know",
        "limits": "plans outside hard limits under random commands and pushes: interior point beside relaxed barriers",
        "contact": "the same bound on stiff, relaxed and springy feet, and in DART: speed, slip, depth, forces",
        "pushes": "the largest push that is survived, by direction and phase of the gait",
        "closed-loop": "full DDP against iLQR inside the MPC on equal time budgets",
    },
}
"""By room: the name of each benchmark, which with underscores is that of its module, and what it measures."""

BENCHMARKS = {name: text for listed in ROOMS.values() for name, text in listed.items()}
"""Subject of each benchmark, by name."""


def load(name: str) -> "Benchmark":
    """The benchmark of a name in BENCHMARKS."""
    room = next(room for room, listed in ROOMS.items() if name in listed)
    module = importlib.import_module(f"{__name__}.{room}.{name.replace('-', '_')}")
    benchmark: Benchmark = module.BENCHMARK
    return benchmark
