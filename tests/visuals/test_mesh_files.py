"""Mesh files: those of the known kinds are drawn, others never opened, and none of them costs more than it is."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

trimesh = pytest.importorskip("trimesh")
from featherweight.visuals import mesh_files  # noqa: E402
from featherweight.visuals.mesh_files import triangles_of  # noqa: E402

BOX = trimesh.creation.box((1.0, 2.0, 3.0))
# draws a file, and tells whether it had triangles, what it opened beside it and whether that took little memory
DRAW = """
import resource, sys, trimesh
from featherweight.visuals.mesh_files import triangles_of
triangles_of(sys.argv[2])
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event in ("open", "socket.connect") else None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
found = triangles_of(sys.argv[1])
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000
outside = [name for name in opened if not name.isdigit() and name != sys.argv[1] and "python" not in name]
print(found is not None, outside, more < 100)
"""
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>
</library_geometries><library_nodes>{nodes}</library_nodes>
<library_visual_scenes><visual_scene id="s"><node id="top">{top}</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
AGAIN = '<instance_node url="#n"/>'
SHOWN = '<instance_geometry url="#g"/>'


def twice(depth: int) -> str:
    """Each node shows the one before twice."""
    nodes = [f'<node id="n0">{SHOWN}</node>']
    for k in range(depth):
        inside = (
            f'<node id="a{k}"><instance_node url="#n{k}"/></node><node id="b{k}"><instance_node url="#n{k}"/></node>'
        )
        nodes.append(f'<node id="n{k + 1}">{inside}</node>')
    return "".join(nodes)


def written(folder: Path, kind: str) -> Path:
    path = folder / f"box.{kind}"
    if kind == "gltf":
        for name, data in BOX.export(file_type="gltf").items():
            (folder / name).write_bytes(data)
        return folder / "model.gltf"
    if kind == "dae":
        path.write_text(DAE.format(nodes="", top=SHOWN))
        return path
    data = BOX.export(file_type=kind)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("kind", mesh_files.KINDS)
def test_known_kinds_are_drawn(kind: str, tmp_path: Path) -> None:
    if kind == "dae":
        pytest.importorskip("collada")
    mesh = triangles_of(str(written(tmp_path, kind)))
    assert mesh is not None
    size = np.ptp(mesh.vertices, axis=0)
    assert size == pytest.approx([1.0, 1.0, 0.0] if kind == "dae" else [1.0, 2.0, 3.0])


def test_capitals_and_text_are_known_too(tmp_path: Path) -> None:
    (tmp_path / "box.STL").write_text(trimesh.exchange.stl.export_stl_ascii(BOX))
    (tmp_path / "box.ply").write_bytes(trimesh.exchange.ply.export_ply(BOX, encoding="ascii"))
    for name in ("box.STL", "box.ply"):
        mesh = triangles_of(str(tmp_path / name))
        assert mesh is not None
        assert len(mesh.faces) == 12


def gltf(nodes: list[dict[str, object]], count: int = 3) -> str:
    return json.dumps({
        "asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0]}], "scene": 0,
        "accessors": [{"componentType": 5126, "count": count, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    })  # fmt: skip


def archive(path: Path, megabytes: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("a.stl", "w", force_zip64=True) as inside:
        for _ in range(megabytes):
            inside.write(bytes(1 << 20))


def hostile(folder: Path) -> dict[str, Path]:
    """Files that are not what they seem."""
    files: dict[str, bytes | str] = {
        "counts.ply": b"ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\nproperty float x\n"
        b"end_header\n" + bytes(100),
        "counts.stl": bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50),
        "polygon.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 " + "1 " * 1_000_000 + "\n",
        "library.obj": "mtllib ../outside.mtl\nmtllib /etc/passwd\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "buffer.gltf": json.dumps({
            "asset": {"version": "2.0"}, "buffers": [{"uri": "../outside.bin", "byteLength": 36}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "scene": 0,
        }),
        "zeros.gltf": gltf([{"mesh": 0}], 300_000_000),
        "nodes.gltf": gltf([{"mesh": 0}] * 600_000),
        "parents.gltf": gltf([{"children": [k + 1, k + 1], "mesh": 0} for k in range(40)] + [{"mesh": 0}]),
        "entities.dae": '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + DAE.format(nodes="", top=SHOWN),
        "unfolded.dae": DAE.format(nodes=twice(40), top='<instance_node url="#n40"/>'),
        "circle.dae": DAE.format(nodes=f'<node id="n">{AGAIN}</node>', top=AGAIN),
        "svg.svg": '<svg><path d="M0 0 L1 1"/></svg>', "x.xaml": "<a/>", "no_ending": "solid",
    }  # fmt: skip
    for name, data in files.items():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    (folder.parent / "outside.bin").write_bytes(np.zeros(9, np.float32).tobytes())
    for name in ("bomb.zip", "bomb.dae", "bomb.3mf"):
        archive(folder / name, 50)
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are POSIX")
def test_no_file_takes_more_than_it_is_or_opens_another(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    good = written(tmp_path, "stl")
    for name, path in hostile(tmp_path / "in").items():
        command = [sys.executable, "-c", DRAW, str(path), str(good)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.strip() == f"{name == 'library.obj'} [] True", name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_links_to_devices_and_long_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    (tmp_path / "long.stl").write_bytes(b"solid")
    os.truncate(tmp_path / "long.stl", 1 << 40)
    for name in ("pipe.stl", "zero.stl", "long.stl", "none.stl"):
        assert triangles_of(str(tmp_path / name)) is None
