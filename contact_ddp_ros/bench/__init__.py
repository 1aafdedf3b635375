"""The measurements that back every claim. Each benchmark is a module with `main(arguments) -> exit code`."""

BENCHMARKS = {
    "trajopt": "the paper's bound from many perturbed starts: time, cost and feasibility of iLQR and both DDPs",
    "solver": "time per iteration, kernels, convergence, in the loop and until ready, beside Crocoddyl",
    "partials": "partials of the dynamics against n, by mRNEAc and by tensors, and the choice of joint angles",
    "robustness": "pushes, friction, mass, delay and speeds in the closed loop",
}
"""Name, which is the module's, and what is measured."""
