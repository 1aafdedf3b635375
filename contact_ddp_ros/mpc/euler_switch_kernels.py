"""Kernels of a floating base whose attitude is in one chart in some contact modes and in the other one in the rest."""

from collections.abc import Mapping

from contact_ddp_ros.base.compiled.casadi_functions import compile_functions
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.dynamics.euler_switch import chart_change
from contact_ddp_ros.dynamics.kernels import build_kernels
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
    built = {}
    for chart in sorted(set(charts.values())):
        own = {mode: contacts for mode, contacts in modes.items() if charts[mode] is chart}
        built[chart] = build_kernels(in_chart(tree, chart), own, axes, levels=levels)
    return joined(built, {mode: (charts[mode], mode) for mode in modes})


def joined(built: Mapping[Chart, KernelSet], modes: Mapping[str, tuple[Chart, str]]) -> KernelSet:
    """The kernels of several charts as one set, with those of the changes between the charts.

    Args:
        built: kernels of a chart's modes.
        modes: by name of a mode in the result, its chart and its name among the kernels of that chart.
    """
    changes = {chart: chart_change(chart) for chart in Chart}
    result = compile_functions([function for of_chart in changes.values() for function in of_chart.values()])
    for chart, kernels in built.items():
        own = {mode: name for mode, (of, name) in modes.items() if of is chart}
        levels = {kernel.partition("/")[0] for kernel in kernels}
        names = {
            f"{level}/{mode}": level if level in _OF_ALL_MODES else f"{level}/{name}"
            for mode, name in own.items()
            for level in levels
        }
        result = result.merged(kernels.aliased(names).labelled(f"_{chart.name.lower()}"))
        changing = {f"{level}/{mode}": function.name() for mode in own for level, function in changes[chart].items()}
        result = result.aliased(changing)
    return result
