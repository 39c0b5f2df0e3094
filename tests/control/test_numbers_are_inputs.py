"""Gains, targets, weights and limits of the built-in controllers are inputs: other numbers compile nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from control import built_in
from control.built_in import CASES, Case
from featherweight.compiler.runtime.kernel import Kernel
from featherweight.compiler.runtime.loop import _LoopKernel
from featherweight.integrators import SemiImplicit
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

TESTS = Path(__file__).parents[1]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of all kernels that are compiled, or loaded from the disk."""
    names: list[str] = []
    for kind in (Kernel, _LoopKernel):
        plain = vars(kind)["_load"]

        def load(self: Any, width: int, plain: Any = plain) -> Any:
            names.append(self.name)
            return plain(self, width)

        monkeypatch.setattr(kind, "_load", load)
    return names


def loop_of(model: fw.Model, control: Any) -> Any:
    return step_loop(model, StepOptions(SemiImplicit(), control=control))


@pytest.mark.parametrize("name", CASES)
def test_other_numbers_compile_nothing_and_have_an_effect(name: str, loaded: list[str]) -> None:
    """One number at a time; and what acts is what the controller's function says on floats, with these numbers."""
    case = CASES[name]
    model, q = case.robot()
    first = built_in.run(model, q, case.make(model, q, **case.numbers))
    assert loaded.count("step") == 1
    loaded.clear()
    seen = {first.tau.tobytes()}
    for numbers in [*case.changes(), built_in.all_changed(case)]:
        control = case.make(model, q, **numbers)
        run = built_in.run(model, q, control)
        assert loaded == []
        seen.add(run.tau.tobytes())
        state, velocity = built_in.moved(model, q)
        tau, _ = control.function(0.0, state, velocity, control.state, control.parameters)
        scale = np.abs(run.tau[0]).max()
        assert np.abs(np.array(tau, dtype=float) - run.tau[0]).max() <= 1e-8 * scale
        loaded.clear()  # functions of one state, which the controller calls on floats
    assert len(seen) == 1 + len({str(n) for n in [*case.changes(), built_in.all_changed(case)]})


@pytest.mark.parametrize("name", CASES)
def test_every_parameter_has_an_effect(name: str) -> None:
    """Lane k of a batch has parameter k changed by a little; all in one run."""
    case = CASES[name]
    model, q = case.robot()
    control = case.make(model, q, **case.numbers)
    p = control.parameters
    changed = np.tile(p, (len(p) + 1, 1))
    changed[np.arange(len(p)) + 1, np.arange(len(p))] += 0.03 * np.abs(p) + 0.01
    run = built_in.run(model, q, replace(control, parameters=changed), case.steps)
    assert np.isfinite(run.tau).all()
    same = {name for k, name in enumerate(names_of(control)) if (run.tau[k + 1] == run.tau[0]).all()}
    assert same == set(case.unused)


def names_of(control: Any) -> list[str]:
    """Of each number in p, for a message."""

    def flat(prefix: str, numbers: Any) -> Iterator[str]:
        for name, value in vars(numbers).items():
            if hasattr(value, "__dict__"):
                yield from flat(f"{prefix}{name}.", value)
            else:
                yield from [f"{prefix}{name}"] * np.size(value)

    return list(flat("", control.function.layout.read(control.parameters)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.structure])
def test_another_structure_is_other_code(name: str) -> None:
    case = CASES[name]
    model, q = case.robot()
    plain = loop_of(model, case.make(model, q, **case.numbers))
    assert loop_of(model, case.make(model, q, **case.numbers)) is plain
    for option, value in case.structure.items():
        assert loop_of(model, case.make(model, q, **{**case.numbers, option: value})) is not plain, option


def test_standing_is_other_code_than_trotting_and_another_robot_has_its_own() -> None:
    model, q = built_in.cheetah()
    assert loop_of(model, fw.control.stand(model, q)) is not loop_of(model, fw.control.trot(model, q))
    chains = [fw.robots.chain(3), fw.robots.chain(3)]
    loops = [loop_of(chain, fw.control.joint_pd(chains[0], [0.1] * 3)) for chain in chains]
    assert loops[0] is not loops[1]


def test_a_fresh_process_without_a_cache_gives_the_same_bits() -> None:
    """There, nothing but the changed numbers was ever seen."""
    fresh = [name for name in CASES if name != "stand"]
    command = [sys.executable, TESTS / "control" / "built_in.py", *fresh]
    environment = {**os.environ, "FEATHERWEIGHT_CACHE": "off"}
    printed = subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout
    expected = dict(line.split() for line in printed.splitlines())
    assert list(expected) == fresh
    for name in fresh:
        case: Case = CASES[name]
        model, q = case.robot()
        built_in.run(model, q, case.make(model, q, **case.numbers))  # the code is made for other numbers
        run = built_in.run(model, q, case.make(model, q, **built_in.all_changed(case)))
        assert run.tau.tobytes().hex() == expected[name], name


def test_numbers_of_one_scene_compile_nothing_for_the_next(loaded: list[str]) -> None:
    """Scenes share their robots."""
    for k, push in enumerate([(0.0, 0.0, 0.0), (20.0, 10.0, 0.0)]):
        scene = fw.scenes.balance(push=push, start=0.0)
        fw.rollout(scene.model, scene.q, scene.v, steps=2, dt=1e-3, control=scene.control)
        assert loaded.count("step") == 1 - k
        loaded.clear()


def test_code_of_others_lives_with_its_controller() -> None:
    """A push around a user's function keeps nothing of it with the robot."""
    model, q = built_in.arm()

    def own(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return -p[0] * v, x

    control = fw.control.pushed(fw.compiled(own, parameters=[0.3]), model, "tool", force=(0.0, 1.0, 0.0))
    built_in.run(model, q, control)
    assert list(control.loops) == [model]
    ours = fw.control.joint_pd(model, q)
    built_in.run(model, q, ours)
    assert not list(ours.loops)  # those of our own controllers are kept with the robot, whatever their numbers
    dead = weakref.ref(own)
    del control, own
    gc.collect()
    assert dead() is None


def test_a_robot_with_shared_code_is_forgotten() -> None:
    model, q = built_in.arm()
    built_in.run(model, q, fw.control.joint_pd(model, q))
    dead = weakref.ref(model)
    del model
    gc.collect()
    assert dead() is None
