"""The robot in Bullet: a multibody in reduced coordinates, its contacts solved by sequential impulses.

Bullet's bodies have their origins at the centres of mass and the axes of the principal moments; that is converted here
and nowhere else. The joints' dry friction is a velocity motor of Bullet's, at rest, with that torque at most; their
damping, which Bullet does not apply to such a body, goes into the torque.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from weakref import finalize

import numpy as np
import pybullet
from numpy.typing import NDArray

from contact_ddp_ros.plants.bodies import Body, bodies_of, check_new, physical
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.plants.terrain.shapes import HeightField
from contact_ddp_ros.robot.joints import BASE_JOINTS
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import matrix_to_quaternion, quaternion_to_matrix
from contact_ddp_ros.robot.shapes import Shape
from contact_ddp_ros.robot.state import DriveGains, RobotState

Array = NDArray[np.float64]

_ITERATIONS: Final = 200
"""Most iterations of the contact solver in a step: four times Bullet's default. A stance on 10° creeps by 0.1 mm/s."""

_FASTEST: Final = 1000.0
"""Joint velocity above which Bullet clips [rad/s]; its default of 100 is within reach of a swinging shank."""

_TRUNK: Final = -1
"""Bullet's number of a multibody's base; link n hangs on joint n."""

_TOUCHING: Final = 0.01
"""A contact so near to a foot's sphere is the foot's, not its shank's [m]."""


class _Client:
    """A world of Bullet's own, closed with this object: pybullet's functions without the number of the world."""

    def __init__(self) -> None:
        self._number = pybullet.connect(pybullet.DIRECT)
        finalize(self, pybullet.disconnect, self._number)

    def __getattr__(self, name: str) -> Any:
        return partial(getattr(pybullet, name), physicsClientId=self._number)


class BulletSimulator(PhysicsSimulator):
    """The :class:`contact_ddp_ros.plants.simulator.PhysicsSimulator` in Bullet."""

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Build the world.

        Raises:
            ParameterError: an option is out of its range, or is MuJoCo's alone.
            ModelError: the URDF has a collision shape without a formula.
        """
        super().__init__(robot, gains, options)
        world = physical(self._options)
        bodies = list(bodies_of(robot, world))
        self._engine: Any = _Client()
        self._engine.setPhysicsEngineParameter(
            fixedTimeStep=self.timestep, numSubSteps=1, numSolverIterations=_ITERATIONS, enableConeFriction=1
        )
        self._gravity = np.asarray(robot.tree.gravity)
        self._engine.setGravity(*self._gravity)
        self._add_ground(world.friction)
        self._com, self._principal = bodies[0].com, _principal(bodies[0])[1]
        self._body = self._add_robot(bodies)
        self._drives = range(len(bodies) - 1)
        self._damping = np.array([body.joint.damping for body in bodies[1:]])
        self._feet = [(foot.body - len(BASE_JOINTS), foot.position) for foot in robot.tree.contacts]
        self._begin, self._count = 0.0, 0
        self._accelerometer = np.zeros(3)
        self.reset()

    def __deepcopy__(self, _memo: object) -> "BulletSimulator":
        check_new(self, self._options)
        twin = BulletSimulator(self._robot, self._gains, self._options)
        twin.reset(self._true_state())
        return twin

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return self._begin + self._count * self.timestep

    def _place(self, state: RobotState) -> None:
        engine, rotation = self._engine, quaternion_to_matrix(state.orientation)
        self._begin, self._count, self._accelerometer = state.time, 0, np.zeros(3)
        centre = state.position + rotation @ self._com
        engine.resetBasePositionAndOrientation(self._body, centre, matrix_to_quaternion(rotation @ self._principal))
        velocity = rotation @ (state.linear_velocity + np.cross(state.angular_velocity, self._com))
        engine.resetBaseVelocity(self._body, velocity, rotation @ state.angular_velocity)
        for drive, position, speed in zip(self._drives, state.joint_positions, state.joint_velocities, strict=True):
            engine.resetJointState(self._body, drive, position, speed)

    def _true_state(self) -> RobotState:
        rotation, position, angular, linear = self._trunk_motion()
        positions, velocities = self._joints()
        return RobotState(
            time=self.time,
            position=position,
            orientation=matrix_to_quaternion(rotation),
            linear_velocity=rotation.T @ linear,
            angular_velocity=rotation.T @ angular,
            joint_positions=positions,
            joint_velocities=velocities,
        )

    def _trunk_motion(self) -> tuple[Array, Array, Array, Array]:
        """Rotation (3, 3) and origin (3,) of the trunk; angular and linear velocity (3,) of its origin, in `odom`."""
        centre, quaternion = self._engine.getBasePositionAndOrientation(self._body)
        linear, angular = map(np.array, self._engine.getBaseVelocity(self._body))
        rotation = quaternion_to_matrix(np.array(quaternion)) @ self._principal.T
        lever = rotation @ self._com
        return rotation, np.array(centre) - lever, angular, linear - np.cross(angular, lever)

    def _joints(self) -> tuple[Array, Array]:
        states = self._engine.getJointStates(self._body, self._drives)
        return np.array([one[0] for one in states]), np.array([one[1] for one in states])

    def _step(self, torques: Array, wrench: Array | None) -> None:
        engine = self._engine
        efforts = torques - self._damping * self._joints()[1]
        engine.setJointMotorControlArray(self._body, self._drives, pybullet.TORQUE_CONTROL, forces=efforts)
        _, origin, _, before = self._trunk_motion()
        if wrench is not None:
            engine.applyExternalForce(self._body, _TRUNK, wrench[:3], origin, pybullet.WORLD_FRAME)
            engine.applyExternalTorque(self._body, _TRUNK, wrench[3:], pybullet.WORLD_FRAME)
        engine.stepSimulation()
        self._count += 1
        rotation, _, _, after = self._trunk_motion()
        self._accelerometer = rotation.T @ ((after - before) / self.timestep - self._gravity)

    def _foot_centres(self) -> Array:
        centres = []
        for link, place in self._feet:
            state = self._engine.getLinkState(self._body, link, computeForwardKinematics=1)
            centres.append(np.array(state[4]) + quaternion_to_matrix(np.array(state[5])) @ place)
        return np.array(centres)

    def _contact_forces(self) -> Array:
        forces = np.zeros((len(self._feet), 3))
        centres, links = self._foot_centres(), [link for link, _ in self._feet]
        for contact in self._engine.getContactPoints(bodyA=self._body):
            if contact[3] not in links:
                continue
            foot = links.index(contact[3])
            if abs(np.linalg.norm(contact[5] - centres[foot]) - self._robot.foot_radius) < _TOUCHING:
                normal, along, across = map(np.array, (contact[7], contact[11], contact[13]))
                forces[foot] += contact[9] * normal + contact[10] * along + contact[12] * across
        return forces

    def _specific_force(self) -> Array:
        return self._accelerometer.copy()

    def _add_ground(self, friction: float) -> None:
        """Add the terrain's shapes; of a pair of shapes Bullet multiplies the friction, so the robot has 1."""
        engine, terrain = self._engine, self._terrain
        plane = engine.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=[0.0, 0.0, 1.0])
        parts = [engine.createMultiBody(0.0, plane, -1, [0.0, 0.0, terrain.height], terrain.tilt)]
        for box in terrain.boxes:
            shape = engine.createCollisionShape(pybullet.GEOM_BOX, halfExtents=box.half)
            parts.append(engine.createMultiBody(0.0, shape, -1, box.centre, box.quaternion))
        if terrain.field is not None:
            parts.append(self._add_field(terrain.field))
        for part in parts:
            engine.changeDynamics(part, -1, lateralFriction=friction, restitution=0.0)

    def _add_field(self, field: HeightField) -> int:
        """A field of heights, whose origin Bullet has half way between the lowest and the highest."""
        heights = field.heights
        shape = self._engine.createCollisionShape(
            pybullet.GEOM_HEIGHTFIELD,
            meshScale=[field.spacing, field.spacing, 1.0],
            heightfieldData=heights.ravel().tolist(),
            numHeightfieldRows=heights.shape[1],
            numHeightfieldColumns=heights.shape[0],
        )
        middle = 0.5 * float(heights.min() + heights.max())
        return int(self._engine.createMultiBody(0.0, shape, -1, [0.0, 0.0, middle]))

    def _add_robot(self, bodies: Sequence[Body]) -> int:
        """The multibody; returns its number."""
        engine, trunk, links = self._engine, bodies[0], bodies[1:]
        names = [body.name for body in bodies]
        frames = [_principal(body) for body in links]
        body = int(
            engine.createMultiBody(
                baseMass=trunk.mass,
                baseCollisionShapeIndex=self._collision_shape(trunk),
                baseInertialFramePosition=trunk.com,
                baseInertialFrameOrientation=matrix_to_quaternion(self._principal),
                linkMasses=[one.mass for one in links],
                linkCollisionShapeIndices=[self._collision_shape(one) for one in links],
                linkVisualShapeIndices=[-1] * len(links),
                linkPositions=[one.joint.translation for one in links],
                linkOrientations=[matrix_to_quaternion(one.joint.rotation) for one in links],
                linkInertialFramePositions=[one.com for one in links],
                linkInertialFrameOrientations=[matrix_to_quaternion(axes) for _, axes in frames],
                linkParentIndices=[names.index(one.parent) for one in links],
                linkJointTypes=[pybullet.JOINT_REVOLUTE] * len(links),
                linkJointAxis=[one.joint.axis for one in links],
            )
        )
        change = partial(engine.changeDynamics, body)  # a few properties each: of many in one call it forgets some
        for number, one in enumerate(bodies, start=_TRUNK):
            change(number, localInertiaDiagonal=_principal(one)[0])
            change(number, lateralFriction=1.0, spinningFriction=0.0, rollingFriction=0.0, restitution=0.0)
            change(number, linearDamping=0.0, angularDamping=0.0)
        for number, one in enumerate(links):
            joint = one.joint
            change(number, maxJointVelocity=_FASTEST)
            change(number, jointLowerLimit=joint.lower, jointUpperLimit=joint.upper)
            engine.setJointMotorControl2(body, number, pybullet.VELOCITY_CONTROL, force=joint.dry_friction)
        return body

    def _collision_shape(self, body: Body) -> int:
        """All that collides of a body as one shape; -1 where nothing does."""
        shapes = [shape for shape in body.shapes if shape.purpose == "collision"]
        if not shapes:
            return -1
        return int(
            self._engine.createCollisionShapeArray(
                shapeTypes=[_KINDS[shape.kind] for shape in shapes],
                radii=[shape.size[0] if shape.kind != "box" else 0.0 for shape in shapes],
                lengths=[shape.size[1] if shape.kind == "cylinder" else 0.0 for shape in shapes],
                halfExtents=[_half(shape) for shape in shapes],
                collisionFramePositions=[shape.translation for shape in shapes],
                collisionFrameOrientations=[matrix_to_quaternion(shape.rotation) for shape in shapes],
            )
        )


_KINDS: Final = {"box": pybullet.GEOM_BOX, "cylinder": pybullet.GEOM_CYLINDER, "sphere": pybullet.GEOM_SPHERE}


def _half(shape: Shape) -> list[float]:
    return [0.5 * edge for edge in shape.size] if shape.kind == "box" else [0.0] * 3


def _principal(body: Body) -> tuple[Array, Array]:
    """Principal moments (3,) [kg m^2] of a body and their axes (3, 3) in its frame, as columns."""
    moments, axes = np.linalg.eigh(body.inertia)
    return moments, axes * [1.0, 1.0, np.sign(np.linalg.det(axes))]
