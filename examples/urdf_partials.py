"""First and contracted second partials of a URDF's contact dynamics, held against finite differences.

By default the packaged Mini Cheetah with two feet on the ground: 18 degrees of freedom, 6 forces. At a random state the
program prints the forces, then how far the partials of ν = (accelerations, forces) are from finite differences of ν,
and the Hessian of γᵀν, for a random γ, from those of γᵀν_z: relative to the largest entry, some 1e-9. The first run
compiles the dynamics, which takes tens of seconds for a robot of this size; later ones load them.

    python examples/urdf_partials.py [FILE.urdf --contacts LINK ... --floating-base]
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros import ContactDynamics, load_robot

Array = NDArray[np.float64]

STEP = 1e-5
"""Of the central differences."""


def differences(function: Callable[[Array], Array], at: Array) -> Array:
    """(..., n) numerical derivative of a function of an array (n,)."""
    columns = [(function(at + STEP * unit) - function(at - STEP * unit)) / (2.0 * STEP) for unit in np.eye(at.size)]
    return np.stack(columns, axis=-1)


def show(name: str, found: Array, expected: Array) -> None:
    """One line: a block's size, and how far it is from its finite differences."""
    error = np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-12)
    print(f"  {name:<12}{found.shape!s:<10} relative error {error:.1e}")


def main() -> None:
    """Load, evaluate, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", nargs="?", type=Path, help="the packaged robot where left out")
    parser.add_argument("--contacts", nargs="*", metavar="LINK", help="links whose origins stay on the ground")
    parser.add_argument("--floating-base", action="store_true", help="the root link moves freely")
    options = parser.parse_args()
    if options.urdf is None:
        dynamics = ContactDynamics(load_robot().tree, options.contacts or ("fr_foot", "hl_foot"), progress=print)
    else:
        dynamics = ContactDynamics.from_urdf(options.urdf, options.contacts or (), floating_base=options.floating_base)
    print(f"{dynamics.tree.name}: n = {dynamics.n}, {dynamics.n_u} actuated, {dynamics.n_c} forces")

    rng = np.random.default_rng(0)
    q, v = rng.uniform(-0.5, 0.5, dynamics.n), rng.normal(size=dynamics.n)
    tau, gamma = rng.normal(size=dynamics.n_u), rng.normal(size=dynamics.n + dynamics.n_c)
    motion = dynamics.motion(q, v, tau)
    for name, force in zip(dynamics.contacts, motion.forces, strict=True):
        print(f"  force on {name}: {np.array2string(force, precision=2)} N")

    first = dynamics.first_order(q, v, tau)
    print("first partials of (accelerations, forces):")
    show("by q", first.by_q, differences(lambda at: dynamics.first_order(at, v, tau).nu, q))
    show("by v", first.by_v, differences(lambda at: dynamics.first_order(q, at, tau).nu, v))
    show("by tau", first.by_tau, differences(lambda at: dynamics.first_order(q, v, at).nu, tau))

    second = dynamics.second_order(q, v, tau, gamma)
    print("second partials, contracted with gamma:")
    show("by q, q", second.qq, differences(lambda at: gamma @ dynamics.first_order(at, v, tau).by_q, q))
    show("by v, q", second.vq, differences(lambda at: gamma @ dynamics.first_order(at, v, tau).by_v, q))
    show("by v, v", second.vv, differences(lambda at: gamma @ dynamics.first_order(q, at, tau).by_v, v))
    show("by tau, q", second.tau_q, differences(lambda at: gamma @ dynamics.first_order(at, v, tau).by_tau, q))


if __name__ == "__main__":
    main()
