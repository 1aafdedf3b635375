"""Kernels of a floating base whose attitude is in one chart in some contact modes and in the other one in the rest."""

from collections.abc import Mapping

from contact_ddp_ros.dynamics.chart_change import chart_change
from contact_ddp_ros.dynamics.kernel_set import KernelSet
from contact_ddp_ros.dynamics.kernels import build_kernels, compile_functions
from contact_ddp_ros.robot.attitude import Chart, in_chart
from contact_ddp_ros.robot.tree import RigidBodyTree

_OF_ALL_MODES = ("feet", "feet_second")
"""Kernels of which each mode has those of its chart."""


def chart_kernels(
    tree: RigidBodyTree,
    modes: Mapping[str, tuple[str, ...]],
    charts: Mapping[str, Chart],
    axes: tuple[int, ...],
    levels: tuple[str, ...],
) -> KernelSet:
    """Kernels of every mode (contact points by name) in the mode's chart, and of the changes into that chart.

    Args:
        tree: of the robot, its base in the order of BASE_JOINTS.
        modes: contact points by name of the mode.
        charts: of each mode.
        axes, levels: as in :func:`contact_ddp_ros.dynamics.kernels.build_kernels`.
    """
    changes = {chart: chart_change(chart) for chart in Chart}
    merged = compile_functions([function for of_chart in changes.values() for function in of_chart.values()])
    for chart in Chart:
        own = {mode: contacts for mode, contacts in modes.items() if charts[mode] is chart}
        if not own:
            continue
        built = build_kernels(in_chart(tree, chart), own, axes, levels=levels)
        aliases = {f"{level}/{mode}": level for mode in own for level in _OF_ALL_MODES if level in built}
        merged = merged.merged(built.aliased(aliases).labelled(f"_{chart.name.lower()}"))
        names = {f"{level}/{mode}": function.name() for mode in own for level, function in changes[chart].items()}
        merged = merged.aliased(names)
    return merged
