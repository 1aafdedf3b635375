"""The measurements that back every claim. Each benchmark is a module with `main(arguments) -> exit code`."""

BENCHMARKS = {
    "convergence": "observed order of DDP and iLQR near an optimum, across impacts, touchdown and limits",
    "trajopt": "the paper's bound from many perturbed starts: time, cost and feasibility of iLQR and both DDPs",
    "solver": "time per iteration, kernels, convergence, in the loop and until ready, beside Crocoddyl",
    "partials": "partials of the dynamics against n, by mRNEAc and by tensors, and the choice of joint angles",
    "latency": "the way of a state to the torque that answers it, hop by hop, over LCM and ROS 2",
    "peers": "the same bound by Crocoddyl and by IPOPT: agreement of the optimum, time to it, over the horizon",
    "reliability": "faults of state, policy, velocity command and clock, injected while the robot bounds",
    "parameters": "every parameter to its bounds and beyond while the robot bounds: what is held, what is refused",
    "shooting": "multiple beside single shooting from bad guesses and over long horizons",
    "integrators": "error of each integration scheme against its step and the time of an iteration",
    "gazebo": "the bound in DART, Gazebo's engine, behind Gazebo's topics beside the same in MuJoCo",
    "realtime": "the live nodes on a machine with other work: neighbours, observers that come and go, stalled planners",
    "soak": "an hour of simulated bounding through the real nodes: memory, rates, faults, falls",
    "robustness": "pushes, friction, mass, delay and speeds in the closed loop",
    "closed-loop": "full DDP against iLQR inside the MPC on equal time budgets",
}
"""Name, which is the module's, and what is measured."""
