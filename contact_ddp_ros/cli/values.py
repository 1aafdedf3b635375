"""From the words of the command line to checked values."""

import argparse

from contact_ddp_ros.options import GroundStep, Push, RunOptions


def run_options(namespace: argparse.Namespace) -> RunOptions:
    """The options of a run from parsed arguments. Raises ParameterError where one is out of range."""
    return RunOptions(
        duration=namespace.duration,
        speed=namespace.speed,
        ramp=namespace.ramp,
        stand_time=namespace.stand_time,
        stop_time=namespace.stop_time,
        variant=namespace.variant,
        backend=namespace.backend,
        lockstep=namespace.lockstep,
        pushes=tuple(namespace.push),
        seed=namespace.seed,
        friction=namespace.friction,
        trunk_mass_scale=namespace.trunk_mass_scale,
        ground_step=namespace.step,
        planner_delay=namespace.planner_delay,
        record_plans=namespace.record_plans,
        video=not namespace.no_video,
        out=namespace.out,
        config=namespace.config,
        overrides=dict(namespace.set),
    )


def parse_speed(text: str) -> tuple[tuple[float, float], ...]:
    """`"0.5"` → ((0, 0.5),); `"0:0,2:1"` → ((0, 0), (2, 1))."""
    if ":" not in text:
        return ((0.0, _number(text, "a speed")),)
    points = [part.split(":") for part in text.split(",")]
    if any(len(point) != 2 for point in points):
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed profile like 0:0,2:1.0,8:0")
    return tuple((_number(time, "a time"), _number(speed, "a speed")) for time, speed in points)


def parse_push(text: str) -> Push:
    """`"3,0,40,0,0.1"` → a push at 3 s of (0, 40, 0) N for 0.1 s."""
    parts = text.split(",")
    if len(parts) != 5:
        raise argparse.ArgumentTypeError(f"{text!r} has {len(parts)} numbers; a push is T,FX,FY,FZ,DT")
    time, x, y, z, duration = (_number(part, "a number") for part in parts)
    return Push(time, (x, y, z), duration)


def parse_step(text: str) -> GroundStep:
    """`"2,0.02"` → 2 cm up at x = 2 m."""
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} has {len(parts)} numbers; a step is X,H")
    return GroundStep(*(_number(part, "a number") for part in parts))


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}") from None
