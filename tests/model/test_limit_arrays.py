"""Limits of a whole robot as arrays: `lower`, `upper`, `velocity_limit`, `effort_limit`."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight import Builder, Inertia, Limits
from featherweight.joints import Free, Mimic, Prismatic, Revolute, Spherical, Universal

BALL = Inertia.sphere(1.0, 0.1)
INF = np.inf


def robot() -> fw.Model:
    less, more = [-INF] * 4, [INF] * 4
    return (
        Builder()
        .add_body("base", joint=Free(), inertia=BALL, limits=Limits([-1, -2, 0, *less], [1, 2, INF, *more], 3.0))
        .add_body("a", parent="base", joint=Revolute("z"), inertia=BALL, limits=Limits(-1.0, 2.0, 5.0, 30.0))
        .add_body("b", parent="a", joint=Mimic(Prismatic("y"), "a_joint", -2.0, 0.5), inertia=BALL,
                  limits=Limits(-0.5, 4.5, 4.0, 7.0))
        .add_body("c", parent="a", joint=Spherical(), inertia=BALL, limits=Limits(effort=2.0))
        .add_body("d", parent="c", joint=Universal("x", "y"), inertia=BALL, limits=Limits([-1, -2], [3, 4], [5, 6]))
        .add_body("e", parent="d", joint=Mimic(Revolute("x"), "a_joint", 0.0, 9.0), inertia=BALL, limits=Limits(0, 1))
        .build()
    )  # fmt: skip


def test_limits_stand_where_the_coordinates_are() -> None:
    """b = 0.5 - 2 a stays within -0.5 and 4.5: a within -2 and 0.5, by itself within -1 and 2; e stands still."""
    model = robot()
    free = [INF] * 4
    assert model.lower.tolist() == [-1, -2, 0, *(-x for x in free), -1, *(-x for x in free), -1, -2]
    assert model.upper.tolist() == [1, 2, INF, *free, 0.5, *free, 3, 4]
    assert model.velocity_limit.tolist() == [3.0] * 6 + [2.0] + [INF] * 3 + [5, 6]
    assert model.effort_limit.tolist() == [INF] * 6 + [30.0] + [2.0] * 3 + [INF] * 2
    assert [x.shape for x in (model.lower, model.upper)] == [(model.nq,)] * 2
    assert [x.shape for x in (model.velocity_limit, model.effort_limit)] == [(model.nv,)] * 2


def test_they_cannot_be_changed_and_are_made_once() -> None:
    model = robot()
    for name in ("lower", "upper", "velocity_limit", "effort_limit"):
        assert getattr(model, name) is getattr(model, name)
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 0.0
        with pytest.raises(AttributeError):
            setattr(model, name, 0.0)


def test_a_robot_without_joints_has_none() -> None:
    model = Builder().add_body("stone", inertia=BALL).build()
    assert model.lower.shape == model.upper.shape == model.velocity_limit.shape == model.effort_limit.shape == (0,)
