"""The robot in DART, a physics engine with rigid contacts: the world that `contact-ddp sdf` writes, without Gazebo.

The world of an SDF file in DART, Gazebo's default engine, put together as gz-physics does it.

That is: revolute joints with the limits, damping and dry friction of the file, effort clipped, limits enforced; one
friction coefficient per shape, the smaller of a pair counting; the ground plane as a large box; ODE's collision
detection and Dantzig's solver, both DART's and Gazebo's defaults. Only what `contact-ddp sdf` writes is understood.
"""

from xml.etree import ElementTree

import dartpy as dart
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.bodies import check_new, physical
from contact_ddp_ros.plants.gazebo.emulator.skeletons import child_of, free_position, read_numbers, skeleton_of
from contact_ddp_ros.plants.gazebo.sdf import world_sdf
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, RobotState

Array = NDArray[np.float64]


class DartWorld:
    """One robot on the ground."""

    def __init__(self, sdf: str) -> None:
        """Build it.

        Raises:
            SimulationError: the text is not the world that `contact-ddp sdf` writes.
        """
        try:
            world = child_of(ElementTree.fromstring(sdf), "world")
            self.name = world.get("name", "")
            self.timestep = float(world.findtext("physics/max_step_size", "0.001"))
            self.real_time_factor = float(world.findtext("physics/real_time_factor", "1"))
            self.odometry_rate = float(world.findtext(".//odom_publish_frequency", "50"))
            self.format = float(world.findtext(".//plugin/output", "data: 0").removeprefix("data: "))
            self._world = dart.simulation.World(self.name)
            self._world.setTimeStep(self.timestep)
            self._world.setGravity(read_numbers(world.findtext("gravity", "0 0 -9.8")))
            self._world.setCollisionDetector(dart.simulation.CollisionDetectorType.ODE)
            models = world.findall("model")
            skeletons = [skeleton_of(model) for model in models]
        except (ElementTree.ParseError, KeyError, ValueError) as error:
            raise SimulationError(f"not a world of `contact-ddp sdf`: {error}") from error
        for skeleton in skeletons:
            self._world.addSkeleton(skeleton)
        robots = [skeleton for skeleton in skeletons if skeleton.isMobile()]
        if len(robots) != 1:
            raise SimulationError(f"the world has {len(robots)} models that move; the emulator takes one")
        self._robot = robots[0]
        self.model = self._robot.getName()
        self._trunk = self._robot.getBodyNode(BASE_LINK)
        dofs = [dof.getName() for dof in self._robot.getDofs()]
        self._dofs = [dofs.index(name) for name in JOINT_NAMES]
        self._limits = np.array([self._robot.getDof(dof).getForceUpperLimit() for dof in self._dofs])
        nodes = [self._robot.getShapeNode(index) for index in range(self._robot.getNumShapeNodes())]
        self._feet = [n for foot in FOOT_NAMES for n in nodes if n.getName().endswith(f":{foot}_collision")]
        self._start = np.asarray(self._robot.getPositions())
        self._force = np.zeros(len(dofs))
        self.specific_force = np.zeros(3)
        self._steps = 0

    @property
    def stamp(self) -> int:
        """Simulated time [ns]."""
        return round(self._steps * self.timestep * 1e9)

    @property
    def position(self) -> Array:
        """(3,) of the trunk's origin [m]."""
        return np.asarray(self._trunk.getWorldTransform().translation())

    @property
    def rotation(self) -> Array:
        """(3, 3) of the trunk."""
        return np.asarray(self._trunk.getWorldTransform().rotation())

    @property
    def orientation(self) -> Array:
        """(4,) unit quaternion (x, y, z, w) of the trunk."""
        quaternion = self._trunk.getWorldTransform().quaternion()
        return np.array([quaternion.x(), quaternion.y(), quaternion.z(), quaternion.w()])

    @property
    def linear_velocity(self) -> Array:
        """(3,) of the trunk's origin, in trunk axes [m/s]."""
        return self.rotation.T @ self._trunk.getLinearVelocity()

    @property
    def angular_velocity(self) -> Array:
        """(3,) of the trunk, in trunk axes [rad/s]."""
        return self.rotation.T @ self._trunk.getAngularVelocity()

    @property
    def joint_positions(self) -> Array:
        """(12,) [rad]."""
        return np.asarray(self._robot.getPositions())[self._dofs]

    @property
    def joint_velocities(self) -> Array:
        """(12,) [rad/s]."""
        return np.asarray(self._robot.getVelocities())[self._dofs]

    def reset(self) -> None:
        """Time zero, everything where the file puts it, at rest."""
        self._robot.setPositions(self._start)
        self._robot.resetVelocities()
        self._robot.resetAccelerations()
        self._robot.clearConstraintImpulses()
        self._world.getConstraintSolver().clearLastCollisionResult()
        self._steps = 0

    def place(self, position: Array, rotation: Array, joint_positions: Array) -> None:
        """Put the robot somewhere, at rest: trunk at `position` (3,) [m] with `rotation` (3, 3), joints (12,) [rad]."""
        transform = np.eye(4)
        transform[:3, :3], transform[:3, 3] = rotation, position
        positions = self._start.copy()
        positions[: self._robot.getJoint(0).getNumDofs()] = free_position(transform)
        positions[self._dofs] = joint_positions
        self._robot.setPositions(positions)
        self._robot.resetVelocities()

    def set_velocities(self, linear: Array, angular: Array, joints: Array) -> None:
        """Give it velocities, in the trunk's axes: of the origin (3,) [m/s], angular (3,), of joints (12,) [rad/s]."""
        velocities = np.zeros(len(self._force))
        velocities[self._dofs] = joints
        self._robot.setVelocities(velocities)
        free = self._robot.getJoint(0)
        free.setAngularVelocity(self.rotation @ angular)
        free.setLinearVelocity(self.rotation @ linear)

    def push_origin(self, wrench: Array) -> None:
        """Have force and moment (6,) in world axes act on the trunk's origin for the next step [N, N m]."""
        self._trunk.addExtForce(wrench[:3], np.zeros(3), False, True)
        self._trunk.addExtTorque(wrench[3:], False)

    def push(self, force: Array) -> None:
        """Have a force (3,) in world axes act on the trunk's centre of mass for the next step [N]."""
        self._trunk.addExtForce(force, self._trunk.getLocalCOM(), False, True)

    def step(self, efforts: Array) -> None:
        """One physics step with the efforts (12,) at the joints, clipped to their limits [N m]."""
        before = np.asarray(self._trunk.getLinearVelocity())
        self._force[self._dofs] = np.clip(efforts, -self._limits, self._limits)
        self._robot.setForces(self._force)
        self._world.step()
        self._steps += 1
        acceleration = (self._trunk.getLinearVelocity() - before) / self.timestep - self._world.getGravity()
        self.specific_force = self.rotation.T @ acceleration

    def foot_positions(self) -> Array:
        """(4, 3) centres of the feet [m]."""
        return np.array([node.getWorldTransform().translation() for node in self._feet])

    def foot_forces(self) -> Array:
        """(4, 3) force of the ground on each foot in the last step, in world axes [N]."""
        forces = np.zeros((len(self._feet), 3))
        feet = [node.getName() for node in self._feet]
        for contact in self._world.getLastCollisionResult().getContacts():
            for sign, shape in ((1.0, contact.collisionObject1), (-1.0, contact.collisionObject2)):
                name = shape.getShapeFrame().getName()
                if name in feet:
                    forces[feet.index(name)] += sign * np.asarray(contact.force)
        return forces


class DartSimulator(PhysicsSimulator):
    """The :class:`contact_ddp_ros.plants.simulator.PhysicsSimulator` in DART."""

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Build the world.

        Raises:
            ParameterError: an option is out of its range, or is MuJoCo's alone.
            ModelError: the URDF has a collision shape without an SDF primitive.
        """
        super().__init__(robot, gains, options)
        self._world = DartWorld(world_sdf(robot, physical(self._options)))
        self._begin = 0.0
        self.reset()

    def __deepcopy__(self, _memo: object) -> "DartSimulator":
        check_new(self, self._options)
        twin = DartSimulator(self._robot, self._gains, self._options)
        twin.reset(self._true_state())
        return twin

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return self._begin + 1e-9 * self._world.stamp

    def _place(self, state: RobotState) -> None:
        self._world.reset()
        self._begin = state.time
        self._world.place(state.position, quaternion_to_matrix(state.orientation), state.joint_positions)
        self._world.set_velocities(state.linear_velocity, state.angular_velocity, state.joint_velocities)

    def _true_state(self) -> RobotState:
        world = self._world
        return RobotState(
            time=self.time,
            position=world.position,
            orientation=world.orientation,
            linear_velocity=world.linear_velocity,
            angular_velocity=world.angular_velocity,
            joint_positions=world.joint_positions,
            joint_velocities=world.joint_velocities,
        )

    def _joints(self) -> tuple[Array, Array]:
        return self._world.joint_positions, self._world.joint_velocities

    def _step(self, torques: Array, wrench: Array | None) -> None:
        if wrench is not None:
            self._world.push_origin(wrench)
        self._world.step(torques)

    def _foot_centres(self) -> Array:
        return self._world.foot_positions()

    def _contact_forces(self) -> Array:
        return self._world.foot_forces()

    def _specific_force(self) -> Array:
        return self._world.specific_force.copy()
