"""A small quadruped with names and signs of its own, as URDF text, and the robot's file that names it."""

import math
from pathlib import Path

import numpy as np
import yaml

from contact_ddp_ros.base.mujoco_engine import mujoco

LEGS = {"fr": (1, -1), "fl": (1, 1), "hr": (-1, -1), "hl": (-1, 1)}
THIGH, SHANK = 0.2, 0.18


def urdf(
    *,
    turned: bool = False,
    sign: int = 1,
    offset: float = 0.0,
    rear_mass: float = 0.9,
    hind: int = 1,
    ahead: float = 0.0,
) -> str:
    """With frames of the legs `turned` by half a turn about z, joints about `sign` times x and y, an `offset` of the
    right thighs' centre of mass [m], the mass of the hind thighs [kg], hind knees that bend backwards (1) or forwards
    (-1), and feet that are `ahead` of the shank [m]."""
    turn = np.diag([-1.0, -1.0, 1.0]) if turned else np.eye(3)

    def text(x: float, y: float, z: float) -> str:
        return " ".join(map(repr, (turn @ np.array([x, y, z])).tolist()))

    def link(name: str, mass: float, com: tuple[float, float, float]) -> str:
        inertia = turn @ (mass * np.array([[3e-3, 1e-4, 2e-4], [1e-4, 4e-3, 3e-4], [2e-4, 3e-4, 2e-3]])) @ turn.T
        if name.startswith("R"):  # the mirror image
            inertia = np.diag([1.0, -1.0, 1.0]) @ inertia @ np.diag([1.0, -1.0, 1.0])
        upper = [(a, b) for a in range(3) for b in range(a, 3)]
        entries = " ".join(f'i{"xyz"[a]}{"xyz"[b]}="{float(inertia[a, b])}"' for a, b in upper)
        body = f'<inertial><mass value="{mass}"/><origin xyz="{text(*com)}"/><inertia {entries}/></inertial>'
        return f'<link name="{name}">{body}</link>'

    def joint(name: str, parent: str, child: str, xyz: str, axis: str, limits: tuple[float, float], rpy: str) -> str:
        lower, upper = sorted(sign * limit for limit in limits)
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            f'<limit lower="{lower}" upper="{upper}" effort="20" velocity="30"/><dynamics damping="0.02"/></joint>'
        )

    body = (
        '<inertial><mass value="5"/><inertia ixx="0.03" iyy="0.08" izz="0.09" ixy="0" ixz="0.001" iyz="0"/></inertial>'
    )
    parts = [f'<link name="body">{body}</link>']
    for front, side in LEGS.values():
        n = f"{'R' if side < 0 else 'L'}{'f' if front > 0 else 'h'}"
        mass, shift = (0.9 if front > 0 else rear_mass), (offset if side < 0 else 0.0)
        bend = 1 if front > 0 else hind
        hips, knees = (-3.0 * bend, 1.0 * bend), (0.3 * bend, 2.7 * bend)
        rpy = f"0 0 {math.pi!r}" if turned else "0 0 0"
        mount = f"{front * 0.2} {side * 0.05} 0.01"
        parts += [
            joint(f"{n}0", "body", f"{n}_hip", mount, text(sign, 0, 0), (-0.7, 0.8) if side > 0 else (-0.8, 0.7), rpy),
            link(f"{n}_hip", 0.5, (0.0, side * 0.02, 0.0)),
            joint(f"{n}1", f"{n}_hip", f"{n}_thigh", text(0, side * 0.06, 0), text(0, -sign, 0), hips, "0 0 0"),
            link(f"{n}_thigh", mass, (0.01 + shift, side * 0.01, -0.05)),
            joint(f"{n}2", f"{n}_thigh", f"{n}_shank", text(0, 0, -THIGH), text(0, -sign, 0), knees, "0 0 0"),
            link(f"{n}_shank", 0.2, (0.0, 0.0, -0.08)),
            f'<joint name="{n}3" type="fixed"><parent link="{n}_shank"/><child link="{n}_ball"/>'
            f'<origin xyz="{text(ahead, 0, -SHANK)}"/></joint>',
            f'<link name="{n}_ball"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>',
        ]
    return f'<robot name="small">{"".join(parts)}</robot>'


def mjcf() -> str:
    """The same robot as an MJCF file, with a servo for every knee."""
    spec = mujoco.MjSpec.from_string(urdf())
    spec.body("body").add_freejoint()
    for name in ("Rf2", "Lf2", "Rh2", "Lh2"):
        knee = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, forcerange=[-20, 20])
        knee.set_to_position(kp=50.0)
    spec.compile()
    return str(spec.to_xml())


def names(leg: str) -> list[str]:
    """Of a leg's joints and its foot."""
    ahead, side = LEGS[leg]
    n = f"{'R' if side < 0 else 'L'}{'f' if ahead > 0 else 'h'}"
    return [f"{n}0", f"{n}1", f"{n}2", f"{n}_ball"]


def content(**changes: object) -> dict[str, object]:
    """Of the robot's file; a value of None leaves a key out."""
    whole = {"urdf": "small.urdf", "legs": {leg: names(leg) for leg in LEGS}} | changes
    return {key: value for key, value in whole.items() if value is not None}


def write(folder: Path, text: str | None = None, **changes: object) -> Path:
    """The robot's file and its URDF in a folder."""
    (folder / "small.urdf").write_text(urdf() if text is None else text, encoding="utf-8")
    file = folder / "small.yaml"
    file.write_text(yaml.safe_dump(content(**changes)), encoding="utf-8")
    return file
