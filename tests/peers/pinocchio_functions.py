"""Every function that Pinocchio has too, side by side: ours for a batch of states, Pinocchio's for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import featherweight as fw
from peers.pinocchio_adapter import kind_of, to_pinocchio

IN = {"body": pin.LOCAL, "world": pin.WORLD, "world_aligned": pin.LOCAL_WORLD_ALIGNED}
POINT = (0.1, 0.2, -0.3)
STEP = 0.3  # [s], of `integrate`
DIVIDING = (  # by the mass matrix
    "forward_dynamics",
    "forward_dynamics f_ext",
    "mass_matrix_inverse",
    "solve_mass_matrix",
    "delassus",
    "operational_inertia",
)


class States(NamedTuple):
    """Arrays of states, batch axis first; or one state, with Pinocchio's configurations."""

    q: np.ndarray
    q1: np.ndarray  # another configuration
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    f_ext: np.ndarray

    def theirs(self, model: fw.Model, theirs: pin.Model) -> Iterator[States]:
        """State by state for Pinocchio."""
        q, q1 = (to_pinocchio(model, theirs, x) for x in (self.q, self.q1))
        for state in zip(*self._replace(q=q, q1=q1), strict=True):
            yield States(*state)


class Pair(NamedTuple):
    """One function of both; where the result may vanish, also the size of what cancels in it."""

    ours: Callable[[fw.Model, States], np.ndarray]
    theirs: Callable[[pin.Model, pin.Data, States], Any]
    size: Callable[[pin.Model, pin.Data, States], float] = lambda m, d, x: 0.0


def states(model: fw.Model, count: int, seed: int = 0) -> States:
    """Configurations over the whole range, velocities, accelerations and forces of the size of one."""
    rng = np.random.default_rng(seed)
    q, q1 = (np.array([model.random(rng) for _ in range(count)]) for _ in range(2))
    for joint in model.joints:
        if isinstance(joint.kind, fw.joints.Planar):  # our angle goes all the way, Pinocchio's the short way round
            angle = joint.q.stop - 1
            q1[:, angle] = q[:, angle] + rng.uniform(-3.0, 3.0, count)
    v, a, tau = rng.normal(size=(3, count, model.nv))
    return States(q, q1, v, a, tau, rng.normal(size=(count, model.nb + 1, 6)))


def forces(rows: np.ndarray) -> pin.StdVec_Force:
    vector = pin.StdVec_Force()
    for row in rows:
        vector.append(pin.Force(row))
    return vector


def mimics(m: pin.Model) -> bool:
    return len(m.mimicking_joints) > 0


def mass_matrix(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    upper = np.triu(pin.crba(m, d, x.q))
    return upper + np.triu(upper, 1).T


def mass_matrix_inverse(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    if mimics(m):  # which Pinocchio cannot do
        return np.linalg.inv(mass_matrix(m, d, x))
    upper = np.triu(pin.computeMinverse(m, d, x.q))
    return upper + np.triu(upper, 1).T


def inverse_dynamics(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    return pin.rnea(m, d, x.q, x.v, x.a, forces(x.f_ext))


def forward_dynamics(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    if mimics(m):
        bias = inverse_dynamics(m, d, x._replace(a=0 * x.a))
        return np.linalg.solve(mass_matrix(m, d, x), x.tau - bias)
    return pin.aba(m, d, x.q, x.v, x.tau, forces(x.f_ext))


def joint_wrenches(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    inverse_dynamics(m, d, x)
    return np.array([np.zeros(6), *(d.f[j].vector for j in range(1, m.njoints))])


def rotations(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    pin.forwardKinematics(m, d, x.q)
    return np.array([X.rotation for X in d.oMi])


def positions(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    pin.forwardKinematics(m, d, x.q)
    return np.array([X.translation for X in d.oMi])


def frame_rotation(m: pin.Model, d: pin.Data, x: States, frame: int) -> np.ndarray:
    pin.framesForwardKinematics(m, d, x.q)
    return d.oMf[frame].rotation


def frame_position(m: pin.Model, d: pin.Data, x: States, frame: int) -> np.ndarray:
    pin.framesForwardKinematics(m, d, x.q)
    return d.oMf[frame].translation


def jacobian(m: pin.Model, d: pin.Data, x: States, frame: int, in_: str) -> np.ndarray:
    return pin.computeFrameJacobian(m, d, x.q, frame, IN[in_])


def jacobian_dot(m: pin.Model, d: pin.Data, x: States, frame: int, in_: str) -> np.ndarray:
    pin.computeJointJacobiansTimeVariation(m, d, x.q, x.v)
    pin.updateFramePlacements(m, d)
    return pin.getFrameJacobianTimeVariation(m, d, frame, IN[in_])


def body_velocity(m: pin.Model, d: pin.Data, x: States, frame: int, in_: str) -> np.ndarray:
    pin.forwardKinematics(m, d, x.q, x.v)
    return pin.getFrameVelocity(m, d, frame, IN[in_]).vector


def body_acceleration(m: pin.Model, d: pin.Data, x: States, frame: int, in_: str, kind: str) -> np.ndarray:
    pin.forwardKinematics(m, d, x.q, x.v, x.a)
    get = pin.getFrameClassicalAcceleration if kind == "classical" else pin.getFrameAcceleration
    return get(m, d, frame, IN[in_]).vector


def our_acceleration(model: fw.Model, x: States, frame: str, in_: str, kind: str) -> np.ndarray:
    return fw.body_acceleration(model, x.q, x.v, x.a, frame, in_, classical=kind == "classical")


def jacobian_dot_size(m: pin.Model, d: pin.Data, x: States) -> float:
    """Unit axes turn with ω."""
    return np.abs(x.v).max()


def coriolis_size(m: pin.Model, d: pin.Data, x: States) -> float:
    return np.abs(mass_matrix(m, d, x)).max(initial=0.0) * np.abs(x.v).max(initial=0.0)


def kinetic_energy(m: pin.Model, d: pin.Data, x: States) -> float:
    if mimics(m) or m.armature.any():  # Pinocchio's misses the armature of joints about any axis but x, y, z
        return 0.5 * x.v @ mass_matrix(m, d, x) @ x.v
    return pin.computeKineticEnergy(m, d, x.q, x.v)


def potential_energy(m: pin.Model, d: pin.Data, x: States) -> float:
    if mimics(m):
        com = pin.centerOfMass(m, d, x.q)
        return -d.mass[0] * m.gravity.linear @ com
    return pin.computePotentialEnergy(m, d, x.q)


def momentum(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    h = pin.computeCentroidalMomentum(m, d, x.q, x.v)
    return np.concatenate([h.linear, h.angular + np.cross(pin.centerOfMass(m, d, x.q), h.linear)])


def centroidal_bias(m: pin.Model, d: pin.Data, x: States) -> np.ndarray:
    return pin.computeCentroidalMomentumTimeVariation(m, d, x.q, x.v, 0 * x.a).vector


def point_jacobian(m: pin.Model, d: pin.Data, x: States, tip: int, middle: int) -> np.ndarray:
    """Of the origin of one frame and of POINT in another, in the world's axes."""
    first, second = (jacobian(m, d, x, frame, "world_aligned") for frame in (tip, middle))
    arm = frame_rotation(m, d, x, middle) @ POINT
    return np.concatenate([first[:3], second[:3] + np.cross(second[3:], arm[:, None], axis=0)])


def delassus(m: pin.Model, d: pin.Data, x: States, tip: int, middle: int) -> np.ndarray:
    J = point_jacobian(m, d, x, tip, middle)
    return J @ mass_matrix_inverse(m, d, x) @ J.T


def operational_inertia(m: pin.Model, d: pin.Data, x: States, frame: int) -> np.ndarray:
    J = jacobian(m, d, x, frame, "body")
    return np.linalg.inv(J @ mass_matrix_inverse(m, d, x) @ J.T)


def chosen_frames(m: pin.Model) -> dict[str, int]:
    """Pinocchio's numbers of our frames to look at: a joint in the middle, the last joint, the farthest fixed link."""
    if m.njoints == 1:
        return {}
    joints = [m.getFrameId(m.names[j], pin.JOINT) for j in ((m.njoints + 1) // 2, m.njoints - 1)]
    times = Counter(frame.name for frame in m.frames)
    fixed = [
        (len(m.supports[frame.parentJoint]), f)
        for f, frame in enumerate(m.frames)
        if frame.parentJoint > 0 and not frame.placement.isIdentity() and times[frame.name] == 1
    ]
    return {m.frames[f].name: f for f in (*joints, *(f for _, f in sorted(fixed)[-1:]))}


def moves_freely(m: pin.Model, frame: int) -> bool:
    """In all six directions, from a configuration like any other."""
    q = pin.integrate(m, pin.neutral(m), np.random.default_rng(3).normal(size=m.nv))
    return np.linalg.matrix_rank(pin.computeFrameJacobian(m, m.createData(), q, frame), tol=1e-6) == 6


def once(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, computed once for the same arguments in a row: for results that are compared part by part."""
    last: list[Any] = [(), None]

    def remembered(*arguments: Any) -> Any:
        if len(last[0]) != len(arguments) or any(a is not b for a, b in zip(last[0], arguments, strict=True)):
            last[:] = arguments, f(*arguments)
        return last[1]

    return remembered


def functions_of_frames(m: pin.Model, every: bool) -> dict[str, Pair]:
    """Of up to three frames, each with `every` way to write its motion, or with one: all three ways on a robot, and the
    same frame with another one from robot to robot."""
    pairs = {}

    def add(name: str, ours: Callable[..., np.ndarray], theirs: Callable[..., Any], frame: str, *options: Any) -> None:
        pairs[" ".join([name, frame, *map(str, options)])] = Pair(
            lambda model, x: ours(model, x, frame, *options),
            lambda m, d, x: theirs(m, d, x, chosen[frame], *options),
        )

    chosen = chosen_frames(m)
    pose = once(lambda o, x, f: fw.frame_pose(o, x.q, f))
    for k, frame in enumerate(chosen):
        add("frame_pose.rotation", lambda o, x, f: pose(o, x, f).rotation, frame_rotation, frame)
        add("frame_pose.position", lambda o, x, f: pose(o, x, f).position, frame_position, frame)
        for in_ in IN if every else [list(IN)[(k + m.nv) % 3]]:
            add("jacobian", lambda o, x, *f: fw.jacobian(o, x.q, *f), jacobian, frame, in_)
            add("jacobian_dot", lambda o, x, *f: fw.jacobian_dot(o, x.q, x.v, *f), jacobian_dot, frame, in_)
            add("body_velocity", lambda o, x, *f: fw.body_velocity(o, x.q, x.v, *f), body_velocity, frame, in_)
            for kind in ("spatial", "classical"):
                add("body_acceleration", our_acceleration, body_acceleration, frame, in_, kind)
    return {n: pair._replace(size=jacobian_dot_size) if "jacobian_dot" in n else pair for n, pair in pairs.items()}


def functions_of_contact(m: pin.Model) -> dict[str, Pair]:
    if m.njoints == 1:  # nothing to push
        return {}
    frames = list(chosen_frames(m).items())
    (middle, second), (tip, first) = frames[0], frames[-1]
    pairs = {
        "delassus": Pair(
            lambda o, x: fw.delassus(o, x.q, [tip, (middle, POINT)]),
            lambda m, d, x: delassus(m, d, x, first, second),
        )
    }
    if moves_freely(m, first):
        pairs["operational_inertia"] = Pair(
            lambda o, x: fw.operational_inertia(o, x.q, tip), lambda m, d, x: operational_inertia(m, d, x, first)
        )
    return pairs


def functions(m: pin.Model, every: bool = False) -> dict[str, Pair]:
    """Ours and Pinocchio's by name, for a model of Pinocchio's and ours made from it; frames in `every` way."""
    poses = once(lambda o, x: fw.forward_kinematics(o, x.q))
    return {
        "integrate": Pair(
            lambda o, x: to_pinocchio(o, m, fw.integrate(o, x.q, x.v, STEP)),
            lambda m, d, x: pin.integrate(m, x.q, STEP * x.v),
        ),
        "difference": Pair(lambda o, x: fw.difference(o, x.q, x.q1), lambda m, d, x: pin.difference(m, x.q, x.q1)),
        "forward_kinematics.rotation": Pair(lambda o, x: poses(o, x).rotation, rotations),
        "forward_kinematics.position": Pair(lambda o, x: poses(o, x).position, positions),
        "inverse_dynamics": Pair(
            lambda o, x: fw.inverse_dynamics(o, x.q, x.v, x.a), lambda m, d, x: pin.rnea(m, d, x.q, x.v, x.a)
        ),
        "inverse_dynamics f_ext": Pair(lambda o, x: fw.inverse_dynamics(o, x.q, x.v, x.a, x.f_ext), inverse_dynamics),
        "forward_dynamics": Pair(
            lambda o, x: fw.forward_dynamics(o, x.q, x.v, x.tau),
            lambda m, d, x: forward_dynamics(m, d, x._replace(f_ext=0 * x.f_ext)),
        ),
        "forward_dynamics f_ext": Pair(lambda o, x: fw.forward_dynamics(o, x.q, x.v, x.tau, x.f_ext), forward_dynamics),
        "joint_wrenches": Pair(
            lambda o, x: fw.joint_wrenches(o, x.q, x.v, x.a),
            lambda m, d, x: joint_wrenches(m, d, x._replace(f_ext=0 * x.f_ext)),
        ),
        "joint_wrenches f_ext": Pair(lambda o, x: fw.joint_wrenches(o, x.q, x.v, x.a, x.f_ext), joint_wrenches),
        "mass_matrix": Pair(lambda o, x: fw.mass_matrix(o, x.q), mass_matrix),
        "mass_matrix_inverse": Pair(lambda o, x: fw.mass_matrix_inverse(o, x.q), mass_matrix_inverse),
        "solve_mass_matrix": Pair(
            lambda o, x: fw.solve_mass_matrix(o, x.q, x.tau), lambda m, d, x: mass_matrix_inverse(m, d, x) @ x.tau
        ),
        "bias_force": Pair(
            lambda o, x: fw.bias_force(o, x.q, x.v), lambda m, d, x: pin.nonLinearEffects(m, d, x.q, x.v)
        ),
        "gravity_force": Pair(
            lambda o, x: fw.gravity_force(o, x.q), lambda m, d, x: pin.computeGeneralizedGravity(m, d, x.q)
        ),
        "coriolis_matrix": Pair(
            lambda o, x: fw.coriolis_matrix(o, x.q, x.v),
            lambda m, d, x: pin.computeCoriolisMatrix(m, d, x.q, x.v),
            coriolis_size,
        ),
        "kinetic_energy": Pair(lambda o, x: fw.kinetic_energy(o, x.q, x.v), kinetic_energy),
        "potential_energy": Pair(lambda o, x: fw.potential_energy(o, x.q), potential_energy),
        "center_of_mass": Pair(lambda o, x: fw.center_of_mass(o, x.q), lambda m, d, x: pin.centerOfMass(m, d, x.q)),
        "com_jacobian": Pair(lambda o, x: fw.com_jacobian(o, x.q), lambda m, d, x: pin.jacobianCenterOfMass(m, d, x.q)),
        "momentum": Pair(lambda o, x: fw.momentum(o, x.q, x.v), momentum),
        "centroidal_momentum_matrix": Pair(
            lambda o, x: fw.centroidal_momentum_matrix(o, x.q), lambda m, d, x: pin.computeCentroidalMap(m, d, x.q)
        ),
        "centroidal_bias": Pair(lambda o, x: fw.centroidal_bias(o, x.q, x.v), centroidal_bias),
        **functions_of_contact(m),
        **functions_of_frames(m, every),
    }


def rates_from(
    full: pin.Model, unfold: Callable[[States], tuple[States, np.ndarray]], pairs: dict[str, Pair]
) -> dict[str, Pair]:
    """The same functions with Coriolis matrix and dJ/dt from another model of the robot, where v_full = G v.

    For joints whose S changes, and for mimic joints, Pinocchio's own are wrong: C v is not its velocity-product force,
    J a + (dJ/dt) v not its acceleration (https://github.com/stack-of-tasks/pinocchio/issues/2053).
    """
    of_full = functions(full, every=True)

    def theirs(name: str, x: States) -> np.ndarray:
        x, G = unfold(x)
        value = of_full[name].theirs(full, full.createData(), x) @ G
        return G.T @ value if name == "coriolis_matrix" else value

    return {
        name: pair._replace(theirs=lambda m, d, x, name=name: theirs(name, x))
        if name.startswith(("coriolis_matrix", "jacobian_dot"))
        else pair
        for name, pair in pairs.items()
    }


def mimics_freed(m: pin.Model, full: pin.Model, x: States) -> tuple[States, np.ndarray]:
    """A state of a robot with mimic joints in the model where these joints are free, and G."""
    q, G = np.empty(full.nq), np.zeros((full.nv, m.nv))
    for j in range(1, m.njoints):
        ratio, offset = 1.0, 0.0
        if kind_of(m, j) == "Mimic":
            ratio, offset = m.joints[j].extract().scaling, m.joints[j].extract().offset
        own = slice(full.idx_qs[j], full.idx_qs[j] + full.nqs[j])
        q[own] = ratio * x.q[m.idx_qs[j] : m.idx_qs[j] + full.nqs[j]] + offset
        for k in range(full.nvs[j]):
            G[full.idx_vs[j] + k, m.idx_vs[j] + k] = ratio
    return x._replace(q=q, v=G @ x.v), G


def theirs_of(pair: Pair, m: pin.Model, data: pin.Data, states: Iterable[States]) -> tuple[np.ndarray, np.ndarray]:
    """Pinocchio's results for its states, and the size of each. Its memory may be that of other functions before: to
    make it anew for each takes longer than to compute."""
    values, sizes = [], []
    for one in states:
        data = m.createData() if mimics(m) else data  # crba adds to what it left there before
        values.append(np.array(pair.theirs(m, data, one)))
        sizes.append(max(np.abs(values[-1]).max(initial=1e-300), pair.size(m, data, one)))
    return np.array(values), np.array(sizes)


def error(ours: np.ndarray, theirs: np.ndarray, sizes: np.ndarray) -> float:
    """Largest difference of any state, as part of its size."""
    assert ours.shape == theirs.shape
    difference = np.abs(ours - theirs).max(axis=tuple(range(1, ours.ndim)), initial=0.0)
    return float((difference / sizes).max())


def errors(model: fw.Model, m: pin.Model, x: States, pairs: dict[str, Pair]) -> dict[str, float]:
    """Error of each function."""
    theirs, data = list(x.theirs(model, m)), m.createData()
    return {name: error(pair.ours(model, x), *theirs_of(pair, m, data, theirs)) for name, pair in pairs.items()}


def above(tolerance: float, found: dict[str, float]) -> dict[str, float]:
    """The functions that are farther off, or not numbers."""
    return {name: e for name, e in found.items() if not e <= tolerance}
