"""Robot, ground and arrows as nodes of viser's scene in a browser, for the live page and for recorded runs."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import trimesh
import viser
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Shape
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.runs.scene import SMALLEST_FORCE

Array = NDArray[np.float64]
Colour = tuple[int, int, int]

ROOT: Final = "/world"
"""Name of the frame that `odom` has in the scene."""

_FACETS = 24
_TILE = 10.0
"""Side of the ground, which the browser multiplies by 26 [m]; a much larger one hides feet where software draws it."""
_NEAR = 5.0
"""Distance from places up to which a mesh of the ground is drawn [m]."""
_NO_ARROW = np.zeros((1, 2, 3), dtype=np.float32)


Tint = tuple[Colour, float]
"""One colour for a whole robot, and its opacity from 0 to 1."""

GHOST: Final = (60, 130, 200), 0.22
"""Look of the planned robot."""


LIGHT: Final = (226, 230, 233), (196, 201, 206), (160, 167, 174)
DARK: Final = (64, 70, 78), (84, 91, 100), (112, 120, 130)
"""Colours of the ground, and of the finer and the coarser lines of its grid."""


def add_body(
    scene: viser.SceneApi, path: str, shapes: Iterable[Shape], *, tint: Tint | None = None
) -> tuple[viser.FrameHandle, list[viser.MeshHandle]]:
    """Frame of a body with its shapes, one mesh for each of their colours; with a tint it casts no shadow."""
    frame = scene.add_frame(path, show_axes=False)
    coloured: dict[Colour, list[Shape]] = {}
    for shape in shapes:
        coloured.setdefault(tint[0] if tint else _colour(shape), []).append(shape)
    meshes = []
    for index, (colour, same) in enumerate(coloured.items()):
        mesh: Any = trimesh.util.concatenate([mesh_of(shape) for shape in same])
        meshes.append(
            scene.add_mesh_simple(
                f"{path}/{index}",
                mesh.vertices,
                mesh.faces,
                color=colour,
                flat_shading=True,
                opacity=tint[1] if tint else None,
                cast_shadow=tint is None,
                receive_shadow=tint is None,
            )
        )
    return frame, meshes


def add_ground(
    scene: viser.SceneApi,
    path: str,
    shapes: Iterable[Shape],
    around: Array | None = None,
    colours: tuple[Colour, Colour, Colour] = LIGHT,
) -> None:
    """Shapes of the world, a plane as a grid without end, a mesh only near the places (n, 2) [m] `around`."""
    plane, cells, sections = colours
    for index, shape in enumerate(shapes):
        if shape.kind == "plane":
            scene.add_grid(
                f"{path}/{index}",
                width=_TILE,
                height=_TILE,
                infinite_grid=True,
                fade_distance=25.0,
                cell_size=0.1,
                section_size=0.5,
                cell_color=cells,
                section_color=sections,
                plane_color=plane,
                plane_opacity=1.0,
                shadow_opacity=0.3,
                wxyz=shape.wxyz,
                position=shape.position,
            )
            continue
        mesh, colour = mesh_of(shape), _colour(shape, plane)
        if around is not None and shape.kind == "mesh":
            middles = mesh.triangles_center[:, :2]
            near = (middles > around.min(axis=0) - _NEAR) & (middles < around.max(axis=0) + _NEAR)
            mesh.update_faces(near.all(axis=1))
            mesh.remove_unreferenced_vertices()
        scene.add_mesh_simple(f"{path}/{index}", mesh.vertices, mesh.faces, color=colour, flat_shading=True)


def add_arrows(scene: viser.SceneApi, path: str, colour: Colour, radius: float = 0.006) -> Any:
    """Arrows with shafts of a radius [m], none of them shown yet."""
    return scene.add_arrows(
        path,
        _NO_ARROW,
        colour,
        shaft_radius=radius,
        head_radius=2.2 * radius,
        head_length=4.0 * radius,
        visible=False,
    )


def mesh_of(shape: Shape) -> trimesh.Trimesh:
    """A shape as triangles in the axes of its body."""
    x, y, z = (float(number) for number in shape.size)
    if shape.kind == "box":
        mesh = trimesh.creation.box(extents=(2.0 * x, 2.0 * y, 2.0 * z))
    elif shape.kind == "cylinder":
        mesh = trimesh.creation.cylinder(radius=x, height=2.0 * y, sections=_FACETS)
    elif shape.kind == "capsule":
        mesh = trimesh.creation.capsule(radius=x, height=2.0 * y, count=(_FACETS, _FACETS // 2))
    elif shape.kind == "ellipsoid":
        mesh = trimesh.creation.icosphere(subdivisions=2)
        mesh.apply_scale((x, y, z))
    elif shape.kind == "mesh":
        mesh = trimesh.Trimesh(shape.vertices, shape.faces, process=False)
    else:
        mesh = trimesh.creation.box(extents=(2.0 * (x or 50.0), 2.0 * (y or 50.0), 1e-3))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = quaternion_to_matrix(np.roll(shape.wxyz, -1)), shape.position
    mesh.apply_transform(pose)
    return mesh


def place(frames: Mapping[int, viser.FrameHandle], positions: Array, wxyz: Array) -> None:
    """Move the frames of bodies, by index, to their positions (n, 3) and quaternions (n, 4)."""
    for body, frame in frames.items():
        frame.position = positions[body]
        frame.wxyz = wxyz[body]


def show(handle: Any, visible: bool) -> None:
    """Show or hide a node of the scene, without a message where it is so already."""
    if handle.visible != visible:
        handle.visible = visible


def point(arrows: Any, places: Array, forces: Array, scale: float) -> None:
    """Let arrows of `scale` [m/N] begin at places (n, 3) [m]; forces (n, 3) that are too small [N] are left out."""
    drawn = np.linalg.norm(forces, axis=1) > SMALLEST_FORCE
    show(arrows, bool(drawn.any()))
    if drawn.any():
        begins = places[drawn]
        arrows.points = np.stack([begins, begins + scale * forces[drawn]], axis=1).astype(np.float32)


def segments(points: Array) -> NDArray[np.float32]:
    """(n - 1, 2, 3) segments of a line through points (n, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


def _colour(shape: Shape, white: Colour = (255, 255, 255)) -> Colour:
    red, green, blue = (round(float(part) * most) for part, most in zip(shape.rgba[:3], white, strict=True))
    return red, green, blue
