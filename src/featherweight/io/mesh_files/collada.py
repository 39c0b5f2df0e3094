"""COLLADA (.dae): a scene of geometries with materials.

As RViz and Gazebo do, lengths are in the unit of the file, and `up_axis` changes nothing: files of robots are written
in the axes of their links, whatever they say there.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator

import numpy as np

from featherweight.io.mesh_files.textures import ENDINGS, colors_at, texture
from featherweight.io.mesh_files.triangles import (
    MOST_BYTES,
    MOST_FACES,
    NONE,
    Beside,
    Triangles,
    fans,
    numbers,
    strip,
)
from featherweight.io.xml import Element, parse

MOST_NODES = 10_000  # that are shown: a scene may show a node again and again


def read(data: bytes, beside: Beside) -> list[Triangles]:
    """What the first scene shows; all geometries if there is none."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("an archive")
    document = _Document(parse(data, None, most_bytes=MOST_BYTES, most_text=MOST_BYTES), beside)
    return [part.moved(np.diag([*[document.unit] * 3, 1.0])) for part in document.shown()]


class _Document:
    """Elements by their id, and what they mean."""

    def __init__(self, root: Element, beside: Beside) -> None:
        self._root, self._beside = root, beside
        self._named: dict[str, Element] = {}
        self._primitives: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray | None]] = {}
        self._materials: dict[str, tuple[tuple[float, ...], np.ndarray | None]] = {}
        stack = [root]
        while stack:
            element = stack.pop()
            self._named.setdefault(element.attributes.get("id", ""), element)
            stack += reversed(element.children)

    @property
    def unit(self) -> float:
        """Metres of a unit of length."""
        found = _first(self._root, "asset", "unit")
        return float(found.attributes.get("meter", 1.0)) if found is not None else 1.0

    def shown(self) -> Iterator[Triangles]:
        """Everything there is to see, in units of the file."""
        instance = _first(self._root, "scene", "instance_visual_scene")
        scene = (
            self._target(instance)
            if instance is not None
            else _first(self._root, "library_visual_scenes", "visual_scene")
        )
        if scene is None:
            for library in self._root.all("library_geometries"):
                for geometry in library.all("geometry"):
                    yield from self._geometry(geometry, {})
            return
        stack = [(node, np.eye(4)) for node in reversed(scene.all("node"))]
        nodes = faces = 0
        while stack:
            node, above = stack.pop()
            matrix = above @ _placement(node)
            nodes += 1
            for child in reversed(node.children):
                target = self._target(child) if child.tag.startswith("instance_") else None
                if child.tag == "node":
                    stack.append((child, matrix))
                elif child.tag == "instance_node" and target is not None:
                    stack.append((target, matrix))
                elif child.tag in ("instance_geometry", "instance_controller") and target is not None:
                    for part in self._geometry(self._skinned(target), _symbols(child)):
                        faces += len(part.faces)
                        yield part.moved(matrix)
            if nodes > MOST_NODES or faces > MOST_FACES:
                raise ValueError("too much is shown")

    def _target(self, element: Element | None, attribute: str = "url") -> Element | None:
        """What an element refers to."""
        name = "" if element is None else element.attributes.get(attribute, "")
        return self._named.get(name.removeprefix("#")) if name else None

    def _skinned(self, element: Element) -> Element:
        """The geometry of a controller, as it is when nothing moves it."""
        skin = _first(element, "skin")
        found = element if skin is None else self._target(skin, "source")
        return element if found is None else found

    def _geometry(self, geometry: Element, symbols: dict[str, str]) -> Iterator[Triangles]:
        """Its primitives, each of one material; `symbols` are their names where it is shown."""
        for mesh in geometry.all("mesh"):
            for primitive in mesh.children:
                if primitive.tag not in POLYGONS:
                    continue
                if id(primitive) not in self._primitives:
                    self._primitives[id(primitive)] = self._corners(primitive)
                vertices, faces, places = self._primitives[id(primitive)]
                symbol = primitive.attributes.get("material", "")
                color, image = self._material(symbols.get(symbol, symbol))
                if image is not None and places is not None:
                    yield Triangles.of(vertices, faces, colors_at(image, places))
                else:
                    yield Triangles.of(vertices, faces, color)

    def _corners(self, primitive: Element) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Vertices (n, 3), triangles (m, 3), and where in a picture their corners are (m, 3, 2), if anywhere."""
        inputs = primitive.all("input")
        width = 1 + max(int(one.attributes.get("offset", 0)) for one in inputs)
        lists = [numbers(p.text, int).reshape(-1, width) for p in primitive.all("p")]
        corners = np.concatenate([*lists, np.empty((0, width), dtype=int)])
        triangles = corners[POLYGONS[primitive.tag](primitive, [len(one) for one in lists])]
        vertices = np.empty((0, 3))
        faces, places = np.empty((0, 3), dtype=int), None
        for one in reversed(inputs):  # the first picture there is
            source, own = self._target(one, "source"), triangles[..., int(one.attributes.get("offset", 0))]
            if one.attributes.get("semantic") == "VERTEX" and source is not None:
                position = next(i for i in source.all("input") if i.attributes.get("semantic") == "POSITION")
                vertices, faces = self._values(self._target(position, "source"), 3), own
            elif one.attributes.get("semantic") == "TEXCOORD":
                places = self._values(source, 2)[own]
        return vertices, faces, places

    def _values(self, source: Element | None, width: int) -> np.ndarray:
        """The first numbers (n, width) of each row of a source."""
        if source is None:
            raise ValueError("a source is missing")
        accessor = _first(source, "technique_common", "accessor")
        array = self._target(accessor, "source") or _first(source, "float_array")
        stride = int(accessor.attributes.get("stride", 1)) if accessor is not None else 3
        values = numbers(array.text if array is not None else "")
        return values[: len(values) // stride * stride].reshape(-1, stride)[:, :width]

    def _material(self, name: str) -> tuple[tuple[float, ...], np.ndarray | None]:
        """The colour of a material, and its picture."""
        if name not in self._materials:
            self._materials[name] = NONE, None
            effect = self._target(_first(self._named[name], "instance_effect")) if name in self._named else None
            profile = None if effect is None else _first(effect, "profile_COMMON")
            technique = None if profile is None else _first(profile, "technique")
            shader = technique.children[0] if technique is not None and technique.children else None
            if profile is not None and shader is not None:
                self._materials[name] = self._shade(profile, shader)
        return self._materials[name]

    def _shade(self, profile: Element, shader: Element) -> tuple[tuple[float, ...], np.ndarray | None]:
        """The diffuse colour, or that of what shines by itself."""
        for kind in ("diffuse", "emission"):
            color, painted = _first(shader, kind, "color"), _first(shader, kind, "texture")
            if color is not None:
                return tuple(numbers(color.text)[:3]), None
            if painted is not None:
                image = self._image(profile, painted.attributes.get("texture", ""))
                return NONE, texture(self._beside.get(image, ENDINGS))
        return NONE, None

    def _image(self, profile: Element, name: str) -> str:
        """The file of a picture: a sampler names a surface, which names an image; old files name it at once."""
        parameters = {one.attributes.get("sid", ""): one for one in profile.all("newparam")}
        for tags in (("sampler2D", "source"), ("surface", "init_from")):
            found = _first(parameters[name], *tags) if name in parameters else None
            name = name if found is None else found.text.strip()
        image = self._named.get(name)
        found = None if image is None else _first(image, "init_from")
        return name if found is None else found.text.strip()


def _first(element: Element, *tags: str) -> Element | None:
    """The first element down a path of tags."""
    for tag in tags:
        below = element.all(tag)
        if not below:
            return None
        element = below[0]
    return element


def _symbols(instance: Element) -> dict[str, str]:
    """The materials of a geometry where it is shown, by the names it has for them."""
    bound = _first(instance, "bind_material", "technique_common")
    found = [] if bound is None else bound.all("instance_material")
    return {one.attributes.get("symbol", ""): one.attributes.get("target", "").removeprefix("#") for one in found}


def _placement(node: Element) -> np.ndarray:
    """The product (4, 4) of a node's matrices, in their order."""
    whole = np.eye(4)
    for child in node.children:
        if child.tag in PLACEMENTS:
            whole = whole @ PLACEMENTS[child.tag](numbers(child.text))
    return whole


def _translated(x: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x
    return matrix


def _turned(x: np.ndarray) -> np.ndarray:
    """About an axis by degrees (Rodrigues)."""
    axis, angle = x[:3] / np.linalg.norm(x[:3]), np.radians(x[3])
    cross = np.cross(np.eye(3), axis)  # cross @ r = axis × r
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return matrix


PLACEMENTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "matrix": lambda x: x.reshape(4, 4),
    "translate": _translated,
    "rotate": _turned,
    "scale": lambda x: np.diag([*x, 1.0]),
}


def _strips(sizes: list[int]) -> np.ndarray:
    """Triangles of strips that stand one after the other."""
    starts = np.cumsum([0, *sizes])
    return np.concatenate([np.empty((0, 3), dtype=int), *(strip(n) + s for n, s in zip(sizes, starts, strict=False))])


POLYGONS: dict[str, Callable[[Element, list[int]], np.ndarray]] = {  # to triangles, from the lengths of their lists
    "triangles": lambda element, sizes: np.arange(sum(sizes) // 3 * 3).reshape(-1, 3),
    "polylist": lambda element, sizes: fans(numbers(element.all("vcount")[0].text, int)),
    "polygons": lambda element, sizes: fans(np.array(sizes)),
    "trifans": lambda element, sizes: fans(np.array(sizes)),
    "tristrips": lambda element, sizes: _strips(sizes),
}
