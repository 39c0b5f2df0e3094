"""glTF with animation: pygltflib and trimesh find the bodies where forward kinematics has them, at every time."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight.visuals import motion_of, shapes_of
from featherweight.visuals.rotations import quaternions

pygltflib = pytest.importorskip("pygltflib")
trimesh = pytest.importorskip("trimesh")
UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up, as robots have it, to y up


@pytest.fixture(scope="module")
def drop() -> fw.Trajectory:
    model = fw.robots.mini_cheetah(points="feet")
    q = model.neutral()
    q[2], q[7:] = 0.35, np.tile([0.0, -0.8, 1.6], 4)
    q[3:7] = [0.0, 0.0, np.sin(1.55), np.cos(1.55)]  # almost half a turn: quaternions change their sign on the way
    v = np.zeros(18)
    v[5] = 9.0
    return fw.simulate(model, q, v, duration=0.2, dt=1e-3, contact=fw.contact.Impulse())


@pytest.fixture(scope="module")
def scene(drop: fw.Trajectory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "drop.glb"
    fw.viewer.export(drop, path)
    return path


def numbers(file, accessor: int) -> np.ndarray:
    """An array of a file, by its own description."""
    about = file.accessors[accessor]
    view = file.bufferViews[about.bufferView]
    kind = {5126: "<f4", 5125: "<u4"}[about.componentType]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[about.type]
    data = file.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
    return np.frombuffer(data, kind).reshape(about.count, width)


def turned(quaternion: np.ndarray) -> np.ndarray:
    """A rotation matrix of x y z w, from the definition."""
    x, y, z, w = quaternion
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def test_every_body_is_where_kinematics_has_it_at_every_frame(drop: fw.Trajectory, scene: Path) -> None:
    file = pygltflib.GLTF2().load(str(scene))
    frames = motion_of(drop, rate=60.0)
    (animation,) = file.animations
    moved: dict[tuple[int, str], np.ndarray] = {}
    for channel in animation.channels:
        sampler = animation.samplers[channel.sampler]
        np.testing.assert_allclose(numbers(file, sampler.input)[:, 0], frames.t, atol=1e-7)
        moved[channel.target.node, channel.target.path] = numbers(file, sampler.output)
    bodies = {shape.body for shape in shapes_of(drop.model)}
    nodes = {node.name: k for k, node in enumerate(file.nodes)}
    for body in bodies:
        node = nodes[drop.model.names[body]]
        places, turns = moved[node, "translation"], moved[node, "rotation"]
        np.testing.assert_allclose(places, frames.position[:, body], atol=1e-6)
        np.testing.assert_allclose([turned(q) for q in turns], frames.rotation[:, body], atol=1e-6)
        assert np.einsum("ij,ij->i", turns[1:], turns[:-1]).min() > 0  # players go the short way
    assert len(moved) == 2 * len(bodies)


def test_trimesh_sees_the_first_frame(drop: fw.Trajectory, scene: Path) -> None:
    """All vertices of the robot, in the world, by somebody else's reader and its scene graph."""
    loaded = trimesh.load(scene)
    frames, shapes = motion_of(drop), shapes_of(drop.model)
    own = [s.mesh.vertices @ frames.rotation[0, s.body].T + frames.position[0, s.body] for s in shapes]
    low, high = np.min([x.min(axis=0) for x in own], axis=0), np.max([x.max(axis=0) for x in own], axis=0)
    robot = [
        trimesh.transform_points(mesh.vertices, loaded.graph[name][0])
        for name in loaded.graph.nodes_geometry
        for mesh in [loaded.geometry[loaded.graph[name][1]]]
        if not name.startswith("ground")
    ]
    found = np.concatenate(robot) @ UP  # back to z up
    np.testing.assert_allclose(found.min(axis=0), low, atol=1e-5)
    np.testing.assert_allclose(found.max(axis=0), high, atol=1e-5)
    assert any(name.startswith("ground") for name in loaded.graph.nodes_geometry)


def test_the_file_keeps_the_rules_of_the_format(scene: Path) -> None:
    """glTF 2.0: header and chunks of whole words; bounds of positions and times; unit quaternions and normals."""
    data = scene.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    assert size % 4 == 0
    parts = json.loads(data[20 : 20 + size])
    binary, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\0"
    assert binary % 4 == 0
    assert parts["buffers"] == [{"byteLength": binary}]
    file = pygltflib.GLTF2().load(str(scene))
    for view in parts["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
    for mesh in parts["meshes"]:
        for primitive in mesh["primitives"]:
            place, normal = (primitive["attributes"][name] for name in ("POSITION", "NORMAL"))
            about, vertices = parts["accessors"][place], numbers(file, place)
            np.testing.assert_array_equal(about["min"], vertices.min(axis=0))
            np.testing.assert_array_equal(about["max"], vertices.max(axis=0))
            np.testing.assert_allclose(np.linalg.norm(numbers(file, normal), axis=1), 1.0, atol=1e-5)
            assert numbers(file, primitive["indices"]).max() < len(vertices)
    for material in parts["materials"]:
        assert all(0 <= x <= 1 for x in material["pbrMetallicRoughness"]["baseColorFactor"])


def test_two_runs_stand_side_by_side(drop: fw.Trajectory, tmp_path: Path) -> None:
    fw.viewer.export([drop, drop], tmp_path / "two.glb", labels=["one", "<two>"])
    file = pygltflib.GLTF2().load(str(tmp_path / "two.glb"))
    robots = {node.name: node for node in file.nodes if node.name in ("one", "<two>")}
    assert robots["one"].translation == [0, 0, 0]
    assert np.linalg.norm(robots["<two>"].translation) > 0.2


def test_a_robot_that_rests_needs_no_animation(tmp_path: Path) -> None:
    model = fw.robots.double_pendulum()
    run = fw.rollout(model, [0.0, 0.0], [0.0, 0.0], steps=10, dt=1e-3)
    fw.viewer.export(run, tmp_path / "rest.glb")
    assert pygltflib.GLTF2().load(str(tmp_path / "rest.glb")).animations == []


def test_quaternions_turn_back_to_their_rotations() -> None:
    rng = np.random.default_rng(0)
    q = rng.normal(size=(500, 4))
    q[:40] = np.eye(4)[rng.integers(0, 4, 40)] + 1e-9 * rng.normal(size=(40, 4))  # half turns, where w vanishes
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    R = np.array([turned(one) for one in q])
    np.testing.assert_allclose([turned(one) for one in quaternions(R)], R, atol=1e-14)
