r"""The MuJoCo model of the robot in its world, derived from the URDF and the :class:`Robot` read from it.

MuJoCo's own URDF reader brings bodies, inertias and shapes; from the robot come what it leaves out or would guess:
free base, armature, damping, dry friction, drives with their torque limits. Nothing about the robot is typed here.

Only ground and robot collide. A robot from an MJCF file is that of
:mod:`contact_ddp_ros.plants.third_party_mjcf`, with its own contacts, also with itself.

Contact model of robot and ground in MuJoCo: stiff, relaxed, or spring and damper.

`stiff`, the default, is as near to the planner's hard, inelastic, Coulomb contact as MuJoCo's soft ones get: critically
damped at two time steps, elliptic cones, and no slip regularisation to speak of. `relaxed` are MuJoCo's own defaults,
critically damped at 20 ms, whatever mass is upon it. `spring` is a spring and a damper,
:math:`f = \max(0, K r + B \dot r)` of the depth :math:`r`, as a rubber foot is.

MuJoCo computes a contact's force by :math:`R f = k r + b \dot r + \ddot r`, with the regularisation
:math:`R = \hat A (1 - d) / d` of the impedance :math:`d` and the inverse inertia :math:`\hat A` of the shape's body. So
a spring has :math:`k = R K` and :math:`b = R B`, and the foot a mass :math:`1 / R` more while it touches, which is kept
small by a low :math:`d`.
"""

import logging
import warnings
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np

from contact_ddp_ros.base.errors import ModelError, ParameterError, SimulationError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.bodies import trunk_top
from contact_ddp_ros.plants.options import ContactOptions, PayloadOptions, SimOptions
from contact_ddp_ros.plants.sensing import PAYLOAD_SIZE, moment, place
from contact_ddp_ros.plants.terrain.shapes import HeightField
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.plants.third_party_mjcf import add_motor, add_robot
from contact_ddp_ros.robot.joints import BASE_JOINTS, BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.mjcf import is_mjcf
from contact_ddp_ros.robot.model import Robot

STIFF_TIME_STEPS: Final = 2.0
"""Time constant of a stiff contact over the time step; MuJoCo needs at least 2 to stay stable."""

STIFF_IMPEDANCE: Final = (0.98, 0.999, 0.0005, 0.5, 2.0)
"""`solimp`: share of the force needed for rigidity at first touch and at 0.5 mm; 0.98 keeps 100 N within 1 mm."""

RELAXED: Final = ((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0))
"""`solref` and `solimp` where a model says nothing."""

SPRING_IMPEDANCE: Final = 0.2
"""Impedance of a spring at any depth: the foot is heavier by a quarter of the inertia that the contact sees."""

FRICTION_IMPEDANCE_RATIO: Final = 20.0
"""Tangential over normal contact impedance: slip by creep stays under a few mm/s."""


def set_contact(model: mujoco.MjModel, options: ContactOptions) -> None:
    """Give the shapes of the robot that collide their contact; they decide for the pair with the ground."""
    model.opt.impratio = FRICTION_IMPEDANCE_RATIO
    for geom in np.flatnonzero((model.geom_bodyid > 0) & (model.geom_contype > 0)):
        if options.model == "spring":
            d = SPRING_IMPEDANCE
            softness = model.body_invweight0[model.geom_bodyid[geom], 0] * (1.0 - d) / d
            # MuJoCo takes k from -solref[0] d / d^2 and b from -solref[1] / d.
            model.geom_solref[geom] = -softness * d * np.array([options.stiffness, options.damping])
            model.geom_solimp[geom] = (d, d, 0.001, 0.5, 2.0)
        elif options.model == "relaxed":
            model.geom_solref[geom], model.geom_solimp[geom] = RELAXED
        else:
            model.geom_solref[geom] = STIFF_TIME_STEPS * model.opt.timestep, 1.0
            model.geom_solimp[geom] = STIFF_IMPEDANCE


GROUND_NAME = "ground"
ACCELEROMETER_NAME: Final = "accelerometer"

GROUND_BIT, ROBOT_BIT = 1, 2
"""Collision classes: the robot collides with the ground, not with itself."""

_ANY_BIT = 2**31 - 1
"""Collision class of a ground that all shapes that collide touch."""

VISUAL_GROUP, COLLISION_GROUP = 2, 3
"""MuJoCo's groups of shapes: those of the second are not drawn."""

DRY_FRICTION_STIFFNESS = (2.0, 1.0)
"""`solref` of joint friction: time constant over the time step, damping ratio."""

VIEWER_CAMERAS: Final = {"side": (0.0, -1.2, 0.25), "chase": (-1.0, -0.7, 0.45)}
"""Places of the cameras that look at the trunk, from its centre of mass in world axes [m]."""

RAISED_TINT = (0.98, 0.86, 0.68, 1.0)
"""Colour over the ground's texture of what stands on it, so that people see the edges."""

_BASE = 0.5
"""Depth of what lies below a field of heights [m]."""

PAYLOAD_TINT = (0.35, 0.30, 0.25, 1.0)

OFFSCREEN_SIZE = (1920, 1080)
"""Largest rendered image (width, height) [pixels]."""


mujoco.set_mju_user_warning(logging.getLogger(__name__).debug)
"""MuJoCo would write its warnings to a file in the working directory; what they warn of is checked and raised here."""


def build_model(robot: Robot, options: SimOptions) -> mujoco.MjModel:
    """Compile the robot on its ground.

    Joints and actuators have the names of JOINT_NAMES, foot spheres those of FOOT_NAMES; look them up by name.

    Raises:
        ParameterError: there is no such ground, or an MJCF file's robot cannot be used.
        SimulationError: MuJoCo refuses the model.
    """
    mjcf = Path(options.mjcf) if options.mjcf else robot.urdf if is_mjcf(robot.urdf) else None
    try:
        if mjcf is not None:
            return _third_party_model(mjcf, robot, options)
        spec = mujoco.MjSpec.from_string(_urdf_for_mujoco(robot))
        _set_options(spec, options)
        _add_world(spec, options)
        spec.body(BASE_LINK).add_freejoint(name="floating_base")
        _load_trunk(spec, robot, options)
        _set_shapes(spec, options)
        _add_drives(spec, robot, options)
        model = spec.compile()
    except (ValueError, RuntimeError) as error:
        raise SimulationError(f"MuJoCo cannot build a model from {mjcf or robot.urdf}: {error}") from error
    set_contact(model, options.contact)
    return model


def _third_party_model(path: Path, robot: Robot, options: SimOptions) -> mujoco.MjModel:
    """The robot of an MJCF file on our ground, whose friction counts; contacts and joints are the file's own."""
    if options.contact != ContactOptions():
        raise ParameterError(
            f"simulator.contact.model is {options.contact.model!r}; in an MJCF file's robot the file's own contacts"
            f" count, allowed: {ContactOptions().model} and the defaults of its stiffness and damping"
        )
    spec = mujoco.MjSpec()
    _set_options(spec, options)
    try:
        added = add_robot(spec, path, robot)
    except ModelError as error:
        raise ParameterError(f"{'simulator.mjcf: ' if options.mjcf else ''}{error}") from error
    _add_world(spec, options)
    for geom in spec.worldbody.geoms:
        geom.contype = geom.conaffinity = _ANY_BIT
    for geom in spec.geoms:
        geom.friction[0] = options.friction  # of a pair the larger counts
    _load_trunk(spec, robot, options)
    if any(one.biasprm[2] for one in spec.actuators):
        # An implicit step would let a servo's damping act on the velocity at its end: as so much more inertia.
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attach conflict")  # options and sizes of the file's own world
        model = spec.compile()
    added.complete(model, options.trunk_mass_scale)
    return model


def _urdf_for_mujoco(robot: Robot) -> str:
    """The URDF with the extension element that keeps MuJoCo from dropping or changing anything."""
    root = ElementTree.fromstring(robot.description)
    extension = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(
        extension,
        "compiler",
        {"discardvisual": "false", "fusestatic": "false", "balanceinertia": "false", "inertiafromgeom": "false"},
    )
    return ElementTree.tostring(root, encoding="unicode")


def _set_options(spec: mujoco.MjSpec, options: SimOptions) -> None:
    option = spec.option
    option.timestep = options.timestep
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    # A diverged state must be seen and reported, not silently replaced by the initial one.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET


def _add_world(spec: mujoco.MjSpec, options: SimOptions) -> None:
    """Ground, sky, lights; colours are chosen for a bright, calm background."""
    spec.visual.global_.offwidth, spec.visual.global_.offheight = OFFSCREEN_SIZE
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    spec.visual.map.znear, spec.visual.map.zfar = 0.02, 20.0
    spec.visual.map.shadowclip = 2.0
    spec.visual.map.haze = 0.35
    spec.visual.rgba.haze = [0.93, 0.95, 0.97, 1.0]
    spec.stat.extent = 1.0
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.62, 0.74, 0.86],
        rgb2=[0.95, 0.96, 0.97],
        width=256,
        height=256,
    )
    spec.add_texture(
        name="checker",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.80, 0.82, 0.84],
        rgb2=[0.70, 0.73, 0.76],
        mark=mujoco.mjtMark.mjMARK_EDGE,
        markrgb=[0.62, 0.65, 0.68],
        width=300,
        height=300,
    )
    ground_material = spec.add_material(name="checker", texrepeat=[2.0, 2.0], texuniform=True)
    ground_material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "checker"
    terrain = parse_terrain(options.terrain)
    spec.worldbody.add_geom(
        name=GROUND_NAME,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[0.0, 0.0, terrain.height],
        quat=np.roll(terrain.tilt, 1),
        size=[0.0, 0.0, 0.05],
        **_ground_surface(options),
    )
    for box in terrain.boxes:
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=box.centre,
            quat=np.roll(box.quaternion, 1),
            size=box.half,
            rgba=RAISED_TINT,
            **_ground_surface(options),
        )
    if terrain.field is not None:
        _add_field(spec, terrain.field, options)
    _follow_robot(spec)


def _add_field(spec: mujoco.MjSpec, field: HeightField, options: SimOptions) -> None:
    """A field of heights, which MuJoCo wants from 0 to 1 above a base."""
    low, high = float(field.heights.min()), float(field.heights.max())
    rows, columns = field.heights.shape
    spec.add_hfield(
        name=GROUND_NAME,
        nrow=rows,
        ncol=columns,
        size=[*field.half, high - low, _BASE],
        userdata=((field.heights - low) / (high - low)).ravel(),
    )
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=GROUND_NAME, pos=[0.0, 0.0, low], **_ground_surface(options)
    )


def _ground_surface(options: SimOptions) -> dict[str, Any]:
    """Attributes of everything that the robot can stand on."""
    return {
        "material": "checker",
        "contype": GROUND_BIT,
        "conaffinity": ROBOT_BIT,
        "friction": _friction(options),
        "condim": 3,
    }


def _follow_robot(spec: mujoco.MjSpec) -> None:
    """A sun with shadows, and cameras for MuJoCo's viewer, that follow the robot over the ground."""
    trunk = spec.body(BASE_LINK)
    trunk.add_light(
        name="sun",
        mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM,
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[-0.6, -0.8, 2.5],
        dir=[0.25, 0.3, -1.0],
        diffuse=[0.7, 0.7, 0.68],
        specular=[0.3, 0.3, 0.3],
        castshadow=True,
    )
    for name, position in VIEWER_CAMERAS.items():
        trunk.add_camera(name=name, mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, pos=position, targetbody=BASE_LINK)


def _load_trunk(spec: mujoco.MjSpec, robot: Robot, options: SimOptions) -> None:
    """Lift the trunk to standing height, give it the mass the planner does not know and an accelerometer."""
    trunk = spec.body(BASE_LINK)
    trunk.pos = [0.0, 0.0, robot.standing_height()]
    trunk.mass *= options.trunk_mass_scale
    trunk.inertia = np.asarray(trunk.inertia) * options.trunk_mass_scale
    trunk.fullinertia = np.asarray(trunk.fullinertia) * options.trunk_mass_scale
    if options.payload.mass > 0.0:
        _load(trunk, options.payload, trunk_top(robot))
    trunk.add_site(name=ACCELEROMETER_NAME)
    spec.add_sensor(
        name=ACCELEROMETER_NAME,
        type=mujoco.mjtSensor.mjSENS_ACCELEROMETER,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname=ACCELEROMETER_NAME,
    )


def _load(trunk: mujoco.MjsBody, payload: PayloadOptions, top: float) -> None:
    """A cube on the trunk's upper side."""
    body = trunk.add_body(name="payload", pos=place(payload, top))
    body.explicitinertial, body.ipos = True, np.zeros(3)
    body.mass = payload.mass
    body.inertia = [moment(payload)] * 3
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[PAYLOAD_SIZE] * 3, rgba=PAYLOAD_TINT, contype=0, conaffinity=0)


def _set_shapes(spec: mujoco.MjSpec, options: SimOptions) -> None:
    """Make collision shapes touch the ground only, and leave visual shapes to the eye."""
    for body in spec.bodies[1:]:
        for geom in body.geoms:
            visual = geom.contype == 0 and geom.conaffinity == 0
            geom.group = VISUAL_GROUP if visual else COLLISION_GROUP
            if visual:
                continue
            geom.contype, geom.conaffinity = ROBOT_BIT, 0
            geom.condim = 3
            geom.friction = _friction(options)
            # The robot's shapes set stiffness and friction of the pair alone.
            geom.priority = 1
    for foot in FOOT_NAMES:
        spheres = [geom for geom in spec.body(foot).geoms if geom.group == COLLISION_GROUP]
        spheres[0].name = foot


def _add_drives(spec: mujoco.MjSpec, robot: Robot, options: SimOptions) -> None:
    """Reflected inertia and friction of every joint, and a torque motor limited to its effort."""
    drives = robot.tree.joints[len(BASE_JOINTS) :]
    for name, drive in zip(JOINT_NAMES, drives, strict=True):
        joint = spec.joint(name)
        joint.armature = drive.armature
        joint.damping = [drive.damping, 0.0, 0.0]
        joint.frictionloss = drive.dry_friction
        time_steps, damping_ratio = DRY_FRICTION_STIFFNESS
        joint.solref_friction = [time_steps * options.timestep, damping_ratio]
        joint.range = [drive.lower, drive.upper]
        joint.limited = True
        add_motor(spec, name, drive.effort_limit)


def _friction(options: SimOptions) -> list[float]:
    """Sliding friction; torsion and rolling are off at condim 3."""
    return [options.friction, 0.005, 0.0001]
