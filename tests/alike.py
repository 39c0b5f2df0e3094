"""Robots that move alike, whatever the order of their joints."""

from __future__ import annotations

import numpy as np

import featherweight as fw


def places(a, b, what):
    """Where the coordinates of b are among those of a: a file has joints depth first, a builder in any order."""
    slices = [getattr(a.joint(joint.name), what) for joint in b.independent_joints]
    return np.concatenate([np.arange(s.start, s.stop) for s in slices])


def moves_alike(a, b, tolerance=1e-12):
    """Same bodies and coordinates; dynamics and kinematics agree at some states."""
    assert (a.nq, a.nv) == (b.nq, b.nv)
    assert sorted(a.names) == sorted(b.names)
    rng = np.random.default_rng(0)
    q = np.array([a.random(rng) for _ in range(4)])
    v, x = rng.normal(size=(2, 4, a.nv))
    Q, V = places(a, b, "q"), places(a, b, "v")
    bodies = [a.names.index(name) for name in b.names]

    def same(ours, other):
        assert np.abs(ours - other).max() <= tolerance * max(np.abs(ours).max(), 1.0)

    with fw.interpret():
        same(fw.inverse_dynamics(a, q, v, x)[:, V], fw.inverse_dynamics(b, q[:, Q], v[:, V], x[:, V]))
        same(fw.forward_dynamics(a, q, v, x)[:, V], fw.forward_dynamics(b, q[:, Q], v[:, V], x[:, V]))
        same(fw.mass_matrix(a, q)[:, V][:, :, V], fw.mass_matrix(b, q[:, Q]))
        same(fw.passive_force(a, q, v)[:, V], fw.passive_force(b, q[:, Q], v[:, V]))
        for ours, other in zip(fw.forward_kinematics(a, q), fw.forward_kinematics(b, q[:, Q]), strict=True):
            same(ours[:, bodies], other)
