"""Mesh files: triangles and colours of the known kinds; others are never opened, and none costs more than it is."""

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

from featherweight.io import mesh_files
from featherweight.io.mesh_files import triangles_of
from peers.pinocchio_adapter import robots_folder

trimesh = pytest.importorskip("trimesh")  # another reader, as an oracle
BOX = trimesh.creation.box((1.0, 2.0, 3.0))
# reads files, and tells which had triangles, what was opened beside them, and whether all of it took little memory
READ = """
import json, resource, sys
from featherweight.io.mesh_files import triangles_of
good, *files = sys.argv[1:]
triangles_of(good)
opened, found = [], []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event in ("open", "socket.connect") else None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for file in files:
    if triangles_of(file) is not None:
        found.append(file)
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000
outside = [name for name in opened if not name.isdigit() and name not in files and "python" not in name]
print(json.dumps([found, outside, more]))
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


def volume(parts) -> float:
    """Signed: negative if triangles look inward."""
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


@pytest.mark.parametrize("kind", mesh_files.KINDS)
def test_known_kinds_are_read(kind: str, tmp_path: Path) -> None:
    (part,) = triangles_of(str(written(tmp_path, kind)))
    size = np.ptp(part.vertices, axis=0)
    assert size == pytest.approx([1.0, 1.0, 0.0] if kind == "dae" else [1.0, 2.0, 3.0])
    if kind != "dae":
        assert len(part.vertices) == 8  # equal ones are one
        assert volume([part]) == pytest.approx(6.0)


def test_capitals_and_text_are_known_too(tmp_path: Path) -> None:
    (tmp_path / "box.STL").write_text(trimesh.exchange.stl.export_stl_ascii(BOX))
    (tmp_path / "box.ply").write_bytes(trimesh.exchange.ply.export_ply(BOX, encoding="ascii"))
    for name in ("box.STL", "box.ply"):
        (part,) = triangles_of(str(tmp_path / name))
        assert len(part.faces) == 12
        assert volume([part]) == pytest.approx(6.0)


def test_a_ply_of_polygons_with_other_elements_is_read_in_both_orders(tmp_path: Path) -> None:
    """A pyramid: a quad and four triangles, an element before them, a list after the corners, colours."""
    head = (
        "element camera 1\nproperty float f\nproperty list uchar short k\nelement vertex 5\nproperty double x\n"
        "property double y\nproperty double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "element face 5\nproperty list uchar uint vertex_indices\nproperty list uchar float texcoord\nend_header\n"
    )
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)]
    faces = [(3, 2, 1, 0), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    for order, name in (("<", "binary_little_endian"), (">", "binary_big_endian"), ("", "ascii")):
        if order:
            body = struct.pack(f"{order}fB2h", 1.0, 2, 7, 8)
            body += b"".join(struct.pack(f"{order}3d3B", *corner, 255, 0, 51) for corner in corners)
            for face in faces:
                body += struct.pack(f"{order}B{len(face)}IB2f", len(face), *face, 2, 0.5, 0.5)
        else:
            rows = ["1.0 2 7 8", *(f"{x} {y} {z} 255 0 51" for x, y, z in corners)]
            body = "\n".join([*rows, *(f"{len(f)} {' '.join(map(str, f))} 2 0.5 0.5" for f in faces)]).encode()
        path = tmp_path / f"{name}.ply"
        path.write_bytes(f"ply\nformat {name} 1.0\n{head}".encode() + body)
        (part,) = triangles_of(str(path))
        assert volume([part]) == pytest.approx(1 / 3), name
        np.testing.assert_allclose(part.colors, [[1.0, 0.0, 0.2]] * 6)


def test_scenes_are_laid_out_as_another_reader_does(tmp_path: Path) -> None:
    """Boxes under all kinds of placements, one of them mirrored, in glTF and COLLADA."""
    pytest.importorskip("collada")
    rng, scene, whole = np.random.default_rng(3), trimesh.Scene(), 0.0
    for k in range(4):
        matrix = trimesh.transformations.random_rotation_matrix(rng.random(3))
        matrix[:3, :3] *= rng.uniform(0.5, 2.0) * (-1 if k == 3 else 1)
        matrix[:3, 3] = rng.normal(size=3)
        whole += 6.0 * abs(np.linalg.det(matrix[:3, :3]))
        scene.add_geometry(BOX.copy(), transform=matrix)
    for kind in ("glb", "gltf", "dae"):
        if kind == "gltf":
            for name, data in scene.export(file_type="gltf").items():
                (tmp_path / name).write_bytes(data)
            path = tmp_path / "model.gltf"
        else:
            path = tmp_path / f"scene.{kind}"
            if kind == "dae":
                path.write_text(rotated_scene())
            else:
                scene.export(path)
        parts, other = triangles_of(str(path)), trimesh.load(path, force="mesh")
        corners = np.concatenate([part.vertices[part.faces].reshape(-1, 3) for part in parts])
        np.testing.assert_allclose(corners.min(axis=0), other.bounds[0], atol=1e-6)
        np.testing.assert_allclose(corners.max(axis=0), other.bounds[1], atol=1e-6)
        np.testing.assert_allclose(
            np.sort(corners.sum(axis=1)), np.sort(other.triangles.reshape(-1, 3).sum(axis=1)), atol=1e-5
        )
        if kind != "dae":
            assert volume(parts) == pytest.approx(whole, rel=1e-5)  # all look outward, the mirrored too


def rotated_scene() -> str:
    """Two triangles below nodes that translate, rotate, scale and multiply, one of them shown through a library."""
    inner = f'<node id="n"><rotate>0 0 1 30</rotate><scale>2 1 0.5</scale>{SHOWN}</node>'
    top = (
        "<translate>1 2 3</translate><rotate>0 0.6 -0.8 70</rotate><matrix>0 -1 0 0.5 1 0 0 0 0 0 1 0 0 0 0 1</matrix>"
        f'{AGAIN}<node id="m"><rotate>0 1 0 -25</rotate>{SHOWN}</node>'
    )
    return DAE.format(nodes=inner, top=top)


MATERIALS = """<library_effects>{effects}</library_effects>
<library_images><image id="i"><init_from>tiles.png</init_from></image></library_images>
<library_materials>{materials}</library_materials><library_geometries>"""
FLAT = '<effect id="{0}-e"><profile_COMMON><technique sid="c"><{1}><{2}><color>{3}</color></{2}></{1}></technique>\
</profile_COMMON></effect>'
PICTURE = (
    '<effect id="tiles-e"><profile_COMMON>'
    '<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>'
    '<newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam><technique sid="c"><phong><diffuse>'
    '<texture texture="t" texcoord="UV"/></diffuse></phong></technique></profile_COMMON></effect>'
)


def collada(shown: str, unit: str = "1", up: str = "Z_UP") -> str:
    """Triangles of several materials: one bound, one by its own name, one that shines, one with none, one painted."""
    effects = FLAT.format("red", "phong", "diffuse", "0.8 0.1 0.2 1")
    effects += FLAT.format("lamp", "constant", "emission", "0 0 0.9 1") + PICTURE
    materials = "".join(
        f'<material id="{n}"><instance_effect url="#{n}-e"/></material>' for n in ("red", "lamp", "tiles")
    )
    places = (
        '<source id="uv"><float_array id="uva" count="6">0.1 0.1 0.2 0.1 0.1 0.2</float_array><technique_common>'
        '<accessor source="#uva" count="3" stride="2"/></technique_common></source>'
    )
    corners = '<input semantic="VERTEX" source="#v" offset="0"/>'
    painted = corners + '<input semantic="TEXCOORD" source="#uv" offset="1" set="0"/>'
    primitives = (
        f'<triangles count="1" material="bound">{corners}<p>0 1 2</p></triangles>'
        f'<polylist count="1" material="lamp">{corners}<vcount>3</vcount><p>0 1 2</p></polylist>'
        f'<polygons count="1">{corners}<p>0 1 2</p></polygons>'
        f'<tristrips count="1" material="tiles">{painted}<p>0 0 1 1 2 2</p></tristrips>'
    )
    text = DAE.format(nodes="", top=shown).replace(
        '<unit meter="1"/>', f'<unit meter="{unit}"/><up_axis>{up}</up_axis>'
    )
    text = text.replace("<library_geometries>", MATERIALS.format(effects=effects, materials=materials))
    text = text.replace("<vertices", f"{places}<vertices")
    start, end = text.index("<triangles"), text.index("</mesh>")
    return text[:start] + primitives + text[end:]


BOUND = (
    '<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="bound" target="#red"/>'
    "</technique_common></bind_material></instance_geometry>"
)


def test_collada_has_units_and_materials_and_its_axes_are_the_link_s(tmp_path: Path) -> None:
    path = tmp_path / "x.dae"
    Image = pytest.importorskip("PIL.Image")
    picture = Image.new("RGB", (64, 64), (0, 0, 255))
    picture.paste((0, 255, 0), (0, 32, 32, 64))  # lower left, where the triangle is
    picture.save(tmp_path / "tiles.png")
    for unit, up in (("1", "Z_UP"), ("0.001", "Y_UP")):
        path.write_text(collada(BOUND, unit, up))
        parts = triangles_of(str(path))
        for part in parts:
            np.testing.assert_allclose(np.ptp(part.vertices, axis=0), np.array([1.0, 1.0, 0.0]) * float(unit))
        colors = [part.colors[0] for part in parts]
        np.testing.assert_allclose(colors[0], [0.8, 0.1, 0.2])
        np.testing.assert_allclose(colors[1], [0.0, 0.0, 0.9])
        assert np.isnan(colors[2]).all()
        np.testing.assert_allclose(colors[3], [0.0, 1.0, 0.0], atol=0.02)


def test_without_pillow_a_painted_part_has_no_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    (tmp_path / "x.dae").write_text(collada(BOUND))
    (tmp_path / "tiles.png").write_bytes(b"not read")
    parts = triangles_of(str(tmp_path / "x.dae"))
    assert np.isnan(parts[3].colors).all()
    assert not np.isnan(parts[0].colors).any()


def test_strips_and_fans_turn_the_right_way(tmp_path: Path) -> None:
    """A square of four corners, in the plane, seen from above: as a strip, as a fan, as a polygon."""
    square = "0 0 0 1 0 0 0 1 0 1 1 0"
    text = DAE.format(nodes="", top=SHOWN).replace('count="9">0 0 0 1 0 0 0 1 0', f'count="12">{square}')
    for tag, order in (("tristrips", "0 1 2 3"), ("trifans", "0 1 3 2"), ("polygons", "0 1 3 2")):
        path = tmp_path / "x.dae"
        path.write_text(
            text.replace("<triangles", f"<{tag}").replace("</triangles", f"</{tag}").replace("0 1 2<", f"{order}<")
        )
        (part,) = triangles_of(str(path))
        a, b, c = np.swapaxes(part.vertices[part.faces], 0, 1)
        np.testing.assert_allclose(np.cross(b - a, c - a), [[0, 0, 1.0]] * 2)


def test_obj_has_the_colours_of_its_materials(tmp_path: Path) -> None:
    """Materials change between faces; a face may have many corners, count back, and name places in pictures."""
    text = """mtllib my colours.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0.1 0.9
f 1 2 3 4
usemtl red
f 1//1 2//1 \\
  3//1
usemtl none
f -4 -3 -2
usemtl painted
f 1/1 2/1 3/1
usemtl red
f 1 2 3
v 9 9 9
"""
    (tmp_path / "x.obj").write_text(text)
    colours = "newmtl red\nKa 1 1 1\nKd 0.9 0.1 0.2\n\nnewmtl painted\nKd 1 1 1\nmap_Kd -bm 1.0 tiles.png\n"
    (tmp_path / "my colours.mtl").write_text(colours)
    Image = pytest.importorskip("PIL.Image")
    picture = Image.new("RGB", (64, 64), (0, 0, 255))
    picture.paste((255, 255, 0), (0, 0, 32, 32))  # upper left, where the place is
    picture.save(tmp_path / "tiles.png")
    plain, red, none, painted = triangles_of(str(tmp_path / "x.obj"))
    assert [len(part.faces) for part in (plain, red, none, painted)] == [2, 2, 1, 1]
    assert np.isnan(plain.colors).all()
    assert np.isnan(none.colors).all()
    np.testing.assert_array_equal(none.vertices[none.faces[0]], [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    np.testing.assert_allclose(red.colors, [[0.9, 0.1, 0.2]] * 2)
    np.testing.assert_allclose(painted.colors, [[1.0, 1.0, 0.0]], atol=0.02)


def test_glb_has_base_colours_as_a_screen_shows_them(tmp_path: Path) -> None:
    """Of a material by its factor, of corners, and of a picture inside the file."""
    box = BOX.copy()
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=[0.5, 0.25, 1.0, 1.0])
    box.visual = trimesh.visual.TextureVisuals(uv=np.full((8, 2), 0.25), material=material)
    box.export(tmp_path / "factor.glb")
    factor = json.loads((tmp_path / "factor.glb").read_bytes()[20:].split(b"\0", 1)[0].rpartition(b"}")[0] + b"}")
    linear = factor["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"][:3]
    (part,) = triangles_of(str(tmp_path / "factor.glb"))
    np.testing.assert_allclose(part.colors[0], np.array(linear) ** (1 / 2.2))
    Image = pytest.importorskip("PIL.Image")
    picture = Image.new("RGB", (64, 64), (0, 0, 255))
    picture.paste((255, 0, 0), (0, 32, 32, 64))  # lower left in the file: trimesh counts up, glTF down
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=picture)
    box.visual = trimesh.visual.TextureVisuals(uv=np.full((8, 2), 0.25), material=material)
    box.export(tmp_path / "picture.glb")
    (part,) = triangles_of(str(tmp_path / "picture.glb"))
    np.testing.assert_allclose(part.colors, [[1.0, 0.0, 0.0]] * 12, atol=0.02)
    box.visual = trimesh.visual.ColorVisuals(box, vertex_colors=np.tile([0, 255, 0, 255], (8, 1)))
    box.export(tmp_path / "corners.glb")
    (part,) = triangles_of(str(tmp_path / "corners.glb"))
    np.testing.assert_allclose(part.colors, [[0.0, 1.0, 0.0]] * 12, atol=1e-6)


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
        "circle.gltf": gltf([{"children": [1]}, {"children": [0]}]),
        "parents.gltf": gltf([{"children": [k + 1, k + 1], "mesh": 0} for k in range(40)] + [{"mesh": 0}]),
        "entities.dae": '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + DAE.format(nodes="", top=SHOWN),
        "empty.dae": DAE.format(nodes=twice(40).replace(SHOWN, ""), top='<instance_node url="#n40"/>'),
        "library.dae": collada(BOUND).replace("tiles.png", "../outside.png"),
        "unfolded.dae": DAE.format(nodes=twice(40), top='<instance_node url="#n40"/>'),
        "circle.dae": DAE.format(nodes=f'<node id="n">{AGAIN}</node>', top=AGAIN),
        "svg.svg": '<svg><path d="M0 0 L1 1"/></svg>', "x.xaml": "<a/>", "no_ending": "solid",
    }  # fmt: skip
    for name, data in files.items():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    (folder.parent / "outside.png").write_bytes(b"x")
    (folder.parent / "outside.mtl").write_bytes(b"newmtl a")
    (folder.parent / "outside.bin").write_bytes(np.zeros(9, np.float32).tobytes())
    for name in ("bomb.zip", "bomb.dae", "bomb.3mf"):
        archive(folder / name, 50)
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are POSIX")
def test_no_file_takes_more_than_it_is_or_opens_another(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    good, files = written(tmp_path, "stl"), hostile(tmp_path / "in")
    command = [sys.executable, "-c", READ, str(good), *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found, outside, megabytes = json.loads(done.stdout)
    assert {Path(file).name for file in found} == {"library.obj", "library.dae"}
    assert outside == []
    assert megabytes < 100


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_links_to_devices_and_long_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    (tmp_path / "long.stl").write_bytes(b"solid")
    os.truncate(tmp_path / "long.stl", 1 << 40)
    for name in ("pipe.stl", "zero.stl", "long.stl", "none.stl"):
        assert triangles_of(str(tmp_path / name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "go2_description/visuals/foot.dae",
        "romeo_description/meshes/V1/visual/LHand.dae",  # parts that are turned about several axes
        "anymal_c_simple_description/meshes/face.dae",
        "solo_description/meshes/obj/with_foot/solo_body.obj",
        "talos_data/meshes/v2/ankle_X_collision.stl",
    ],
)
def test_published_files_are_read_as_another_reader_does(name: str) -> None:
    """The same triangles, in the same places."""
    pytest.importorskip("collada")
    path = robots_folder() / name
    parts, other = triangles_of(str(path)), trimesh.load(path, force="mesh", process=False)
    ours = np.concatenate([part.vertices[part.faces].mean(axis=1) for part in parts])
    theirs = other.triangles.mean(axis=1)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(np.sort(ours, axis=0), np.sort(theirs, axis=0), atol=1e-5)
