"""The trot of the notes on quadrupeds: in place, on springs with the published parameters, and on impulses.

The notes show both at 0.3 of their speed and say: on springs the robot bumps, its feet slide, their forces turn fast,
because little presses at the beginning of a stance; on impulses it runs smoothly, its feet and forces are steady.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from featherweight import scenes
from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.foot_marks import landings
from featherweight.experiments.trot_pictures import write_movie, write_page_in_3d
from featherweight.simulation import Trajectory, simulate

SPEED = 0.3  # of real time, at which the source shows it
FEET = ("FR_foot", "FL_foot", "HR_foot", "HL_foot")
SETTLED = 2.0  # [s] that are not measured
LANDING = 0.02  # [s] in which little presses on a foot that lands


@dataclass(frozen=True, eq=False)
class Trot:
    """A trot in place on one kind of ground, measured after two seconds.

    Args:
        label: contact model and step.
        run: every step of it, from the start.
        slip: the way that the worst foot slides while it presses, a second [m/s].
        landing_slip: the part of the slip of all feet that falls on the first 20 ms of a stance, 0 to 1.
        cone_slip: the part of it with a force at the limit of friction; what is left is the give of springs that hold.
        turning: how fast the contact force of a foot changes its direction, on average [deg/ms].
        peak_force: the largest contact force of a foot [N].
        jolts: root mean square of the trunk's vertical acceleration [m/s²].
    """

    label: str
    run: Trajectory
    slip: float
    landing_slip: float
    cone_slip: float
    turning: float
    peak_force: float
    jolts: float


@dataclass(frozen=True)
class Statement:
    """What the source says, the figures for it on springs and on impulses, and whether they bear it out."""

    text: str
    unit: str
    springs: float
    impulses: float
    holds: bool


@dataclass(frozen=True, eq=False)
class TrotExperiment:
    """The same trot on springs and on impulses in steps of 1 ms, and on springs in steps that are short enough."""

    springs: Trot
    impulses: Trot
    fine_springs: Trot

    @property
    def statements(self) -> list[Statement]:
        """The source, sentence by sentence."""
        soft, hard = self.springs, self.impulses
        return [
            Statement(
                "the robot bumps on springs, and runs much more smoothly on impulses: its trunk accelerates",
                "m/s²", soft.jolts, hard.jolts, soft.jolts > 1.5 * hard.jolts,
            ),
            Statement(
                "forces of the feet turn fast on springs, and are steady on impulses",
                "deg/ms", soft.turning, hard.turning, soft.turning > 10 * hard.turning,
            ),
            Statement(
                "feet slide on springs, and do not on impulses",
                "mm/s", 1e3 * soft.slip, 1e3 * hard.slip, soft.slip > 5e-3 and hard.slip < 1e-5,
            ),
            Statement(
                "feet on springs slide because little presses while they land: slip in the first 20 ms",
                "%", 100 * soft.landing_slip, 100 * hard.landing_slip, soft.landing_slip > 0.5,
            ),
        ]  # fmt: skip

    @property
    def claims(self) -> list[Claim]:
        """The statements with their figures in words; what the source gives as a reason does not bear them out."""
        section = "on applications"
        because = self.statements[-1]
        found = [
            Claim(s.text, f"springs {s.springs:.3g} {s.unit}, impulses {s.impulses:.2g} {s.unit}", s.holds, section)
            for s in self.statements[:-1]
        ]
        fine = self.fine_springs
        why = (
            "the step of 1 ms is too long for these springs. In steps of 0.25 ms feet slide "
            f"{1e3 * fine.slip:.2g} mm/s "
            f"and forces turn {fine.turning:.2g} deg/ms"
        )
        measured = f"{because.springs:.2g} % of the slip; the rest comes later in a stance"
        found.append(Claim(because.text, measured, because.holds, section, why))
        points = len(self.springs.run.model.contact_points)  # type: ignore[union-attr]
        text = "16 points are checked for contact: 8 corners of the trunk, 4 knees, 4 feet"
        found.append(Claim(text, f"{points} in our Mini Cheetah", points == 16, section))
        return found

    @property
    def table(self) -> Table:
        """What was measured, on each ground."""
        heads = (
            "ground",
            "worst foot slides",
            "while landing",
            "force turns",
            "peak force",
            "trunk bumps",
        )
        rows = [
            (
                one.label, _speed(one.slip), f"{one.landing_slip:.0%}", f"{one.turning:.2g} deg/ms",
                f"{one.peak_force:.0f} N", f"{one.jolts:.2g} m/s²",
            )
            for one in (self.springs, self.impulses, self.fine_springs)
        ]  # fmt: skip
        return Table("Slip, turning and size of the forces", heads, rows)


def trot(seconds: float = 10.0, *, friction: float = 0.8) -> TrotExperiment:
    """The Mini Cheetah trots in place on a ground of that friction, three times.

    Springs have K = 5e5 N/m^1.5 and D = 5e3 N s/m^1.5, those of the published simulator. Its step of 1 ms is too long
    for them, which is what the source sees; steps of 0.25 ms are not.
    """
    return TrotExperiment(
        springs=trot_on("spring", 1e-3, seconds, friction=friction),
        impulses=trot_on("impulse", 1e-3, seconds, friction=friction),
        fine_springs=trot_on("spring", 2.5e-4, seconds, friction=friction),
    )


def trot_on(contact: str, dt: float, seconds: float, *, friction: float = 0.8) -> Trot:
    """One of them: on "spring" or "impulse", in steps of dt [s]."""
    if not isinstance(seconds, (int, float)) or not SETTLED + 0.5 <= seconds < np.inf:
        raise ValueError(
            f"seconds: expected {SETTLED + 0.5:g} or more, got {seconds!r}: {SETTLED:g} s are not measured"
        )
    scene = replace(scenes.trot(contact=contact, friction=friction), dt=dt)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is too long for")  # the source's is
        run = simulate(scene.model, scene.q, scene.v, duration=seconds, **scene.means)
    return _measured(f"{contact}s, {1e3 * dt:g} ms", run, friction)


def _measured(label: str, run: Trajectory, friction: float) -> Trot:
    names = [point.name for point in run.model.contact_points]  # type: ignore[union-attr]
    feet = [names.index(foot) for foot in FEET]
    dt = float(run.t[1])
    late = run.t[:-1] >= SETTLED
    force, slid = run.contact_force[:, feet], run.contact_slip[:, feet] * dt
    size = np.linalg.norm(force, axis=-1)
    presses = size > 0
    slid = np.where(presses & late[:, None], slid, 0.0)
    landing = np.stack([_since_landing(own, dt) < LANDING for own in presses.T], axis=-1)
    at_limit = np.linalg.norm(force[..., :2], axis=-1) > 0.999 * friction * force[..., 2]
    whole = max(float(slid.sum()), 1e-300)
    every = max(1, round(1e-3 / dt))  # accelerations of a millisecond, in shorter steps too
    height = run.q[run.t >= SETTLED, 2][::every]
    return Trot(
        label,
        run,
        slip=float(slid.sum(axis=0).max() / (late.sum() * dt)),
        landing_slip=float(slid[landing].sum()) / whole,
        cone_slip=float(slid[at_limit].sum()) / whole,
        turning=float(_angles(force[late], size[late]).mean() / (1e3 * dt)),
        peak_force=float(size[late].max()),
        jolts=float(np.sqrt(np.mean(np.square(np.diff(height, 2) / (every * dt) ** 2)))),
    )


def _angles(force: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Between the forces of two steps in a row, of feet that press in both [deg]."""
    presses = (size[1:] > 0) & (size[:-1] > 0)
    cosine = (force[1:] * force[:-1]).sum(axis=-1)[presses] / (size[1:] * size[:-1])[presses]
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _since_landing(presses: np.ndarray, dt: float) -> np.ndarray:
    """For how long a foot has been on the ground at each step [s], short hops included; before it lands, infinitely."""
    steps = np.flatnonzero(presses)
    landed = landings(presses, dt)
    since = np.full(len(presses), np.inf)
    since[steps] = (steps - landed[np.searchsorted(landed, steps, side="right") - 1]) * dt
    return since


def _speed(metres: float) -> str:
    """[m/s] in a fitting unit."""
    return f"{1e3 * metres:.2g} mm/s" if metres > 1e-5 else f"{1e6 * metres:.2g} µm/s"


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("trotting on springs and on impulses")
    result = trot(4.0 if short else 10.0)
    runs = {one.label: one.run for one in (result.springs, result.impulses)}
    tell("drawing")
    write_movie(runs, FEET, out / "trot.gif", speed=SPEED, seconds=0.1 if short else 0.8)
    write_page_in_3d(runs, FEET, out / "trot-3d.html", speed=SPEED, seconds=2.5 if short else 4.0)
    return Outcome(
        result.claims,
        [result.table],
        pictures={
            "trot.gif": "The same trot in place at 0.3 of its speed. Violet: how far a foot slid since it landed at "
            "the cross, 10 times magnified. Red: its force; pale: its forces in the last 12 ms"
        },
        pages={"trot-3d.html": "In three dimensions, at 0.3 of its speed: turn it, move through time"},
        notes=[
            "Impulses are steady in direction, not in size: where a foot lands, the peak is higher than on springs. In "
            "steps that are short enough springs are the smoother ground of the two."
        ],
    )


EXPERIMENT = Experiment("trot", "000", "A quadruped trots in place, on springs and on impulses", _run)
