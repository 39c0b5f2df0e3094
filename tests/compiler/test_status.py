"""The status of every row of a batch: which checks it failed, whatever its place, its pack or its thread."""

import numpy as np

import featherweight as fw
from featherweight.compiler.llvm.calls import BAD_CHECK, BAD_INPUT, BAD_RESULT
from featherweight.dynamics.functions import FORWARD_DYNAMICS

BALL = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1)).build()


def states(count):
    q = np.tile(BALL.neutral(), (count, 1))
    return q, np.zeros((count, 6)), np.zeros((count, 6))


def test_every_bad_row_is_named_and_no_other():
    kernel = FORWARD_DYNAMICS.kernel(BALL)
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 8, 9, 64, 65, 1000, 5003):
        q, v, tau = states(count)
        expected = np.zeros(count, dtype=np.uint8)
        for row in rng.choice(count, size=min(count, 11), replace=False):
            kind = rng.integers(3)
            if kind == 0:
                tau[row, 2] = np.nan
                expected[row] = BAD_INPUT | BAD_RESULT
            elif kind == 1:
                q[row, 3] = 0.5
                expected[row] = BAD_CHECK
            else:
                v[row, :] = 1e300
                expected[row] = BAD_RESULT
        for threads in (1, 2):
            with fw.threads(threads):
                assert (kernel.status(q, v, tau) == expected).all()


def test_good_rows_have_no_status_and_leading_axes_are_kept():
    kernel = FORWARD_DYNAMICS.kernel(BALL)
    q, v, tau = states(12)
    status = kernel.status(q.reshape(3, 4, 7), v.reshape(3, 4, 6), tau[0])
    assert status.shape == (3, 4)
    assert not status.any()
