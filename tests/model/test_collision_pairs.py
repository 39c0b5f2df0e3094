"""Which shapes may touch which: neighbours, what touches at the neutral configuration, what is excluded."""

from __future__ import annotations

import json

import pytest

import featherweight as fw
from featherweight import shapes
from featherweight.collision import detection
from featherweight.io import from_plain, to_plain
from featherweight.model.collision_pairs import used_pairs

BALL = shapes.Sphere(0.1)
INERTIA = fw.Inertia.sphere(1.0, 0.1)


def chain(links: int, step: float = 1.0, solid=lambda k: True, base: fw.joints.Joint | None = None) -> fw.Model:
    """Links a, b, c … a step apart, each with a ball at its joint; the first is fixed, or on a joint."""
    builder = fw.Builder("chain")
    for k in range(links):
        name, parent = "abcdefgh"[k], "abcdefgh"[k - 1] if k else "world"
        joint = fw.joints.Revolute("y") if k else base
        place = fw.Placement((step if k else 0.0, 0, 0))
        builder.add_body(name, parent=parent, joint=joint, placement=place, inertia=INERTIA)
        if solid(k):
            builder.add_geometry(name, BALL)
    return builder.build()


def used(model: fw.Model) -> list[str]:
    return sorted(pair.a + pair.b for pair in model.collision_pairs() if pair.used)


def reasons(model: fw.Model) -> dict[str, str]:
    return {pair.a + pair.b: pair.reason for pair in model.collision_pairs()}


def test_neighbours_are_left_out() -> None:
    model = chain(4)
    assert used(model) == ["ac", "ad", "bd"]
    assert reasons(model)["ab"] == "neighbours: joint b_joint"
    assert len(model.collision_pairs()) == 6


def test_a_welded_link_is_a_neighbour_like_its_body() -> None:
    """a - b - (b2 welded) - c: a and b2, b2 and c are neighbours, b and b2 no pair at all."""
    builder = fw.Builder("weld")
    builder.add_body("a", inertia=INERTIA)
    builder.add_body("b", parent="a", joint=fw.joints.Revolute("y"), placement=fw.Placement((1, 0, 0)), inertia=INERTIA)
    builder.add_body("w", parent="b", placement=fw.Placement((1, 0, 0)), inertia=INERTIA)
    builder.add_body("c", parent="w", joint=fw.joints.Revolute("y"), placement=fw.Placement((1, 0, 0)), inertia=INERTIA)
    for name in "abwc":
        builder.add_geometry(name, BALL)
    model = builder.build()
    assert used(model) == ["ac"]
    assert {*reasons(model)} == {"ab", "aw", "ac", "bc", "wc"}


def test_links_without_shapes_where_axes_meet_are_one_joint() -> None:
    """A hip of three axes in a point has thigh and trunk as neighbours; one with links that have a length has not."""
    assert used(chain(4, 0.0, lambda k: k in (0, 3))) == []
    assert reasons(chain(4, 0.0, lambda k: k in (0, 3)))["ad"] == "neighbours: joint d_joint"
    assert used(chain(4, 1.0, lambda k: k in (0, 3))) == ["ad"]


def test_what_touches_at_the_neutral_configuration_is_left_out() -> None:
    model = chain(4, 0.08)  # balls two steps apart overlap by 0.04, three steps apart are 0.04 from each other
    assert used(model) == ["ad"]
    assert reasons(model)["ac"] == "touching at the neutral configuration: 40 mm deep"
    assert used(chain(3, 0.1)) == []  # they just touch
    assert used(chain(3, 0.1001)) == ["ac"]


def test_kinds_without_detection_are_judged_by_the_balls_around_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "PAIRS", {})
    reason = "touching at the neutral configuration: by the balls around them"
    assert reasons(chain(3, 0.08))["ac"] == reason
    assert used(chain(3, 0.11)) == ["ac"]


# ---- several robots and objects


def ball() -> fw.Model:
    builder = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=INERTIA)
    return builder.add_geometry("ball", BALL).build()


def test_free_objects_may_touch_although_they_are_in_one_place_at_zero() -> None:
    builder = fw.Builder("balls")
    for name in "ab":
        builder.add_body(name, joint=fw.joints.Free(), inertia=INERTIA).add_geometry(name, BALL)
    builder.add_geometry("world", shapes.Box((1, 1, 1)), name="W")
    assert used(builder.build()) == ["aW", "ab", "bW"]


def test_a_free_robot_keeps_its_own_rules() -> None:
    builder = fw.Builder("two").add_model(chain(3, base=fw.joints.Free())).add_model(ball())
    assert used(builder.build()) == ["aball", "ac", "bball", "cball"]


def test_added_models_that_stand_in_the_world_may_touch() -> None:
    """Their first links hang on the world, which has shapes of the other one, too."""
    table = fw.Builder("table").add_body("t", inertia=INERTIA).add_geometry("t", shapes.Box((1, 1, 1))).build()
    builder = fw.Builder("cell").add_model(chain(3), "l").add_model(chain(3), "r").add_model(table)
    model = builder.build()
    assert model.added
    pairs = {pair.a + "-" + pair.b for pair in model.collision_pairs() if pair.used}
    across = {f"l{x}-r{y}" for x in "abc" for y in "abc"} - {"la-ra"}  # both in the world
    assert pairs == across | {"la-lc", "ra-rc", "lb-t", "lc-t", "rb-t", "rc-t"}


def test_shapes_of_the_world_are_nobodys_neighbours() -> None:
    builder = fw.Builder("arm").add_body("a", joint=fw.joints.Revolute("y"), inertia=INERTIA).add_geometry("a", BALL)
    far = builder.add_geometry("world", BALL, fw.Placement((1, 0, 0)), name="W").build()
    assert used(far) == ["aW"]


def test_a_gripper_on_an_arm_is_part_of_it() -> None:
    grip = chain(2, 1.0)
    model = fw.Builder("arm").add_model(chain(3), "x").add_model(grip, "y", parent="xc").build()
    assert "neighbours" in {p.a + p.b: p.reason for p in model.collision_pairs()}["xbya"]  # ya is welded to xc


# ---- excluded


def test_links_and_shapes_can_be_excluded() -> None:
    model = chain(5).without_collisions([("a", "c"), ("e", "a")])
    assert used(model) == ["ad", "bd", "be", "ce"]
    assert reasons(model)["ae"] == "excluded"
    assert model.fingerprint != chain(5).fingerprint
    assert used(model.without_collisions([("b", "d")])) == ["ad", "be", "ce"]


def test_what_keeps_them() -> None:
    model = chain(5).without_collisions([("a", "c")])
    assert used(from_plain(json.loads(json.dumps(to_plain(model))))) == used(model)
    assert used(model.with_scaled_mass(2.0)) == used(model)
    assert model.renamed(prefix="x_").excluded == (("x_a", "x_c"),)
    assert model.renamed({"c": "C"}).excluded == (("a", "C"),)
    assert fw.Builder("w").add_model(model, "y_").build().excluded == (("y_a", "y_c"),)
    assert model.locked({"b_joint": 0.0}).excluded == (("a", "c"),)


def test_wrong_names_are_refused() -> None:
    with pytest.raises(KeyError, match="no shape or link with shapes named 'g'; there are a, b, c"):
        chain(3).without_collisions([("a", "g")])
    with pytest.raises(TypeError, match="two names"):
        chain(3).without_collisions(["ab"])  # type: ignore[list-item]
    data = to_plain(chain(2))
    for wrong in ([["a"]], [["a", 1]], 3):
        with pytest.raises(fw.ModelError):
            from_plain({**(data or {}), "excluded": wrong})


# ---- asked for by name


def several() -> fw.Model:
    """a has two shapes, the second named; c is welded to b."""
    builder = fw.Builder("several").add_body("a", joint=fw.joints.Free(), inertia=INERTIA)
    builder.add_body("b", joint=fw.joints.Free(), inertia=INERTIA).add_body("c", parent="b", inertia=INERTIA)
    builder.add_geometry("a", BALL).add_geometry("a", BALL, name="tip").add_geometry("a", BALL)
    return builder.add_geometry("b", BALL).add_geometry("c", BALL).build()


def test_words() -> None:
    model = several()
    assert used_pairs(model, "ground") == used_pairs(model, "none") == []
    names = [shape.name for shape in model.shapes]
    assert names == ["a", "tip", "a_2", "b", "c"]
    assert [names[i] + names[j] for i, j in used_pairs(model, "auto")] == ["ab", "tipb", "a_2b", "ac", "tipc", "a_2c"]
    with pytest.raises(ValueError, match="expected 'auto', 'ground', 'none' or pairs of names, got 'all'"):
        used_pairs(model, "all")


def test_a_link_stands_for_all_its_shapes() -> None:
    model = several()
    assert used_pairs(model, [("a", "b")]) == [(0, 3), (1, 3), (2, 3)]
    assert used_pairs(model, [("tip", "c"), ("a_2", "b")]) == [(1, 4), (2, 3)]
    assert used_pairs(model, [("a", "b"), ("b", "tip")]) == [(0, 3), (1, 3), (2, 3)]  # each once


def test_neighbours_may_be_asked_for() -> None:
    assert used_pairs(chain(2), [("a", "b")]) == [(0, 1)]


def test_what_cannot_touch_is_refused() -> None:
    with pytest.raises(ValueError, match="'b' and 'c' are on one body"):
        used_pairs(several(), [("b", "c")])
    with pytest.raises(KeyError, match="did you mean 'tip'"):
        used_pairs(several(), [("tipp", "b")])


def test_it_prints_as_a_table() -> None:
    text = str(chain(3).without_collisions([("a", "c")]).collision_pairs())
    assert text.splitlines() == [
        "3 pairs of shapes, 0 may touch",
        "excluded (1)",
        "  a - c",
        "neighbours (2)",
        "  a - b (joint b_joint)",
        "  b - c (joint c_joint)",
    ]
    assert str(chain(3).collision_pairs()).splitlines()[1:3] == ["may touch (1)", "  a - c"]
