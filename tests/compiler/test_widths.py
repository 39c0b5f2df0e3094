"""Code for narrower machines is run here too: packs of 2 and 4 lanes give the bits of this machine's own width."""

import copy
import dataclasses

import numpy as np
import pytest

import featherweight as fw
from featherweight import scalar
from featherweight.compiler.native.target import host
from featherweight.compiler.runtime import code, kernel

WIDTHS = [w for w in (2, 4) if w < host().width]


def robot():
    builder = fw.Builder("mixed").add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.box(3, (0.3, 0.2, 0.1)))
    for k in range(3):
        builder.add_body(
            f"arm{k}",
            parent="base",
            joint=fw.joints.Revolute((1, k, 0.5)),
            placement=fw.Placement((0.1, 0.1 * k, 0), rpy=(0.1, 0, k)),
            inertia=fw.Inertia.box(1 + 0.1 * k, (0.1, 0.2, 0.3), at=(0.1, 0, 0)),
        )
        builder.add_body(
            f"slide{k}",
            parent=f"arm{k}",
            joint=fw.joints.Prismatic("z"),
            inertia=fw.Inertia.sphere(0.5, 0.1, at=(0, 0, 0.2)),
        )
    return builder.build()


def results(model, q, v, x):
    poses = fw.forward_kinematics(model, q)
    return [
        fw.forward_dynamics(model, q, v, x),
        fw.inverse_dynamics(model, q, v, x),
        fw.mass_matrix(model, q),
        poses.rotation,
        poses.position,
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("model", [robot(), fw.robots.pendulum(), fw.robots.chain(9)], ids=lambda m: m.name)
def test_narrow_packs_give_the_same_bits(model, width, monkeypatch):
    rng = np.random.default_rng(width)
    q = np.array([model.random(rng) for _ in range(1003)])
    v, x = rng.normal(size=(2, 1003, model.nv))
    if model.name != "mixed":
        q[5, -1] = 1e22  # through the path for huge angles
    right = results(model, q, v, x)

    features = "+avx2,+fma" if host().arch == "x86" else host().features
    narrow = dataclasses.replace(
        host(), cpu="haswell" if host().arch == "x86" else host().cpu, features=features, width=width
    )
    for module in (code, kernel):
        monkeypatch.setattr(module, "host", lambda: narrow)
    fresh = copy.copy(model)  # the same robot without kernels
    for count in (1, 2, 3, 5, 8, 64, 65, 1003):
        some = results(fresh, q[:count], v[:count], x[:count])
        for a, b in zip(some, right, strict=True):
            assert (a == b[:count]).all()
    bad = v.copy()
    bad[77, 0] = np.nan
    with pytest.raises(ValueError, match=r"v\[77, 0\] is nan"):
        fw.inverse_dynamics(fresh, q, bad, x)


@pytest.mark.parametrize("width", WIDTHS)
def test_products_and_random_numbers_in_narrow_packs(width, monkeypatch):
    rng = np.random.default_rng(width)
    W, x = rng.normal(size=(29, 11)), rng.normal(size=(37, 11 + 29 * 11))

    def function(scalars, *_):
        own = np.array(scalars[0][11:]).reshape(29, 11)
        y = scalar.dense(W, scalars[0][:11], None, scalar.tanh)
        noise = [scalar.random(y[0], 1), scalar.random_normal(y[1], 2)]
        return [[*y, *scalar.linear(own, scalars[0][:11]), *noise]], 0

    def made():
        return kernel.Kernel("layer", [kernel.Argument("x", x.shape[1:], "n")], [(60,)], function, lambda _: "")

    (right,) = made()(x)
    narrow = dataclasses.replace(host(), cpu="haswell", features="+avx2,+fma", width=width)
    for module in (code, kernel):
        monkeypatch.setattr(module, "host", lambda: narrow)
    here = made()
    for count in (1, 2, 5, 37):
        assert here(x[:count])[0].tobytes() == right[:count].tobytes()
    assert here(x[3])[0].tobytes() == right[3].tobytes()


def test_rows_of_long_results_are_fetched_while_they_are_computed():
    from featherweight.dynamics.inertia import BIAS_FORCE, MASS_MATRIX_INVERSE

    model = robot()
    fetches = [
        MASS_MATRIX_INVERSE.kernel(model).module(4, host()).text.count("call void @fetch("),
        MASS_MATRIX_INVERSE.kernel(model).module(1, host()).text.count("call void @fetch("),
        BIAS_FORCE.kernel(model).module(4, host()).text.count("call void @fetch("),
    ]
    assert fetches == [-(-8 * model.nv**2 // 64), 0, 0]  # lines of 64 bytes: all of them, in packs, of long rows
