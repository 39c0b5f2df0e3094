"""Friction and restitution of what touches, as docs/how-to/worlds.md and contact.md have them."""

from __future__ import annotations

import math

import pytest

import featherweight as fw
from featherweight.contact import Impulse, Pair, Plane, SpringDamper
from featherweight.contact.candidates import Ground, candidates
from featherweight.contact.slots import nearest
from featherweight.contact.touching import touching
from featherweight.forces import Kinematics

MU, E = 0.5, 0.6  # of the contact model
OWN = {"none": (None, None), "rough": (0.9, 0.2), "lively": (0.4, 0.7), "smooth": (0.0, 0.0)}  # μ, e of each shape
BESIDE = [("none", "rough"), ("rough", "lively"), ("lively", "none"), ("smooth", "rough"), ("smooth", "lively")]


def balls() -> fw.Model:
    builder = fw.Builder("balls")
    for name, (mu, e) in OWN.items():
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        builder.add_geometry(name, fw.shapes.Sphere(0.1), friction=mu, restitution=e)
    return builder.build()


MODEL = balls()
AT = Kinematics(MODEL, MODEL.over_floats, MODEL.neutral().tolist(), [0.0] * MODEL.nv)  # all are where one is


def by_rows(pairs: list, ground: Plane) -> dict:
    """Coefficients of contact points with rows of their own, by the names of what touches."""
    found = Impulse(ground, pairs=pairs, slots=0).arranged(MODEL).direct
    names = [(p.a.name, "ground" if isinstance(p.b, int) else p.b.name) for p in found]
    points = touching(found, Ground((ground,), MU, E), AT, math.inf)
    return {name: (m.friction, m.restitution) for name, m in zip(names, points, strict=True)}


def by_slots(pairs: list) -> list[tuple[float, float]]:
    """The same of slots; all gaps are the same, so they are in the order of the pairs."""
    shared = Impulse(pairs=pairs, slots=9).arranged(MODEL).shared
    slots = nearest(shared, len(pairs), Ground((Plane(),), MU, E), AT, 1e-3).slots
    return [(s.friction, s.restitution) for s in sorted(slots, key=lambda s: s.number)]


def documented(pair: Pair) -> tuple[float, float]:
    """√(μ_a μ_b) and the larger e; what a shape has not is the contact model's; a pair's own goes before all."""
    (mu_a, e_a), (mu_b, e_b) = OWN[pair.a], OWN[pair.b]
    mu = math.sqrt((MU if mu_a is None else mu_a) * (MU if mu_b is None else mu_b))
    e = max(E if e_a is None else e_a, E if e_b is None else e_b)
    return mu if pair.friction is None else pair.friction, e if pair.restitution is None else pair.restitution


@pytest.mark.parametrize("own", [{}, {"friction": 0.05}, {"restitution": 0.9}, {"friction": 0.0, "restitution": 0.0}])
@pytest.mark.parametrize("rough_ground", [Plane(), Plane(friction=2.0, restitution=1.0)])
def test_two_shapes(own: dict[str, float], rough_ground: Plane) -> None:
    """Each pair as it is, but the second, which has coefficients of its own; the ground's play no part."""
    pairs = [Pair(*names, **(own if k == 1 else {})) for k, names in enumerate(BESIDE)]
    expected = [pytest.approx(documented(pair), rel=1e-15) for pair in pairs]
    rows = by_rows(pairs, rough_ground)
    assert [rows.get((p.a, p.b)) or rows[p.b, p.a] for p in pairs] == expected
    assert by_slots(pairs) == expected


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("ground", [(None, None), (0.3, 0.1), (0.0, 0.0)])
def test_a_shape_and_the_ground(name: str, ground: tuple[float | None, float | None]) -> None:
    """The surface's own; else the shape's own; else the contact model's."""
    expected = [
        own if own is not None else MU_or_E if shape is None else shape
        for own, shape, MU_or_E in zip(ground, OWN[name], (MU, E), strict=True)
    ]
    found = by_rows([], Plane(friction=ground[0], restitution=ground[1]))
    assert found[name, "ground"] == tuple(expected)


def test_the_parameter_of_a_robot_takes_the_place_of_the_contact_models_friction() -> None:
    """Of contact points, shapes and slots; not of what has a friction of its own."""
    builder = fw.Builder("balls", parameters=("ground.friction",))
    for name, mu in (("plain", None), ("rough", 0.9)):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        builder.add_geometry(name, fw.shapes.Sphere(0.1), friction=mu).add_contact_point(f"{name}_point", parent=name)
    model, own = builder.build(), 0.25
    tree = model.over(float, lambda: None, {"ground.friction": [own]})
    at = Kinematics(model, tree, model.neutral().tolist(), [0.0] * model.nv)
    surfaces = Plane(), Plane(friction=0.3)
    ground, pair = Ground(surfaces, MU, E), [("plain", "rough")]
    assert [m.friction for m in candidates(ground, at)] == [own, 0.3] * 2
    rows = touching(Impulse(surfaces, pairs=pair, slots=0).arranged(model).direct, ground, at, math.inf)
    assert [m.friction for m in rows] == pytest.approx([own, 0.3, 0.9, 0.3, math.sqrt(0.9 * own)])
    (slot,) = nearest(Impulse(surfaces, pairs=pair, slots=1).arranged(model).shared, 1, ground, at, 1e-3).slots
    assert slot.friction == pytest.approx(math.sqrt(0.9 * own))


def test_springs_have_no_restitution_and_say_so_wherever_it_is_given() -> None:
    with pytest.warns(UserWarning, match=r"Pair: its restitution of 0\.5 does not act with springs") as told:
        SpringDamper(pairs=[Pair("rough", "lively", restitution=0.5)])
    assert told[0].filename == __file__
    springs = SpringDamper(Plane(point=(0, 0, -9)), pairs=[("rough", "none"), Pair("none", "smooth", restitution=0.0)])
    q = MODEL.neutral()
    q[::7] = range(len(OWN))
    options = {"steps": 1, "dt": 1e-4, "contact": springs}
    with fw.interpret(), pytest.warns(UserWarning, match="shapes 'rough', 'lively': their restitution") as told:
        fw.rollout(MODEL, q, [0.0] * MODEL.nv, **options)
    assert [w.filename for w in told] == [__file__]
