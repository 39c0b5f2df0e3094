"""`featherweight simulate` of a second file with the same structure compiles nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command_line import run
from featherweight.compiler.native import cache

HOPPER = """<robot name="hopper">
<link name="trunk"><inertial><origin xyz="0.01 0 0.02"/><mass value="{mass}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/>
<limit lower="-0.7" upper="0.9" effort="20" velocity="9"/><dynamics damping="{damping}"/></joint>
<link name="leg"><inertial><origin xyz="0 0 -0.1"/><mass value="0.4"/>
<inertia ixx="0.002" iyy="0.002" izz="0.0003" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 {foot}"/><geometry><sphere radius="{radius}"/></geometry></collision></link>
</robot>"""
FIRST = {"mass": 2.5, "damping": 0.1, "foot": -0.2, "radius": 0.02}


@pytest.mark.parametrize("how", [("--contact", "impulse"), ("--contact", "none", "--integrator", "variational")])
def test_a_second_file_with_other_numbers_compiles_nothing(
    how: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", str(folder))

    def simulated(**numbers: float) -> tuple[dict, set[str]]:
        """The summary, and the entries with machine code."""
        file = tmp_path / "hopper.urdf"
        file.write_text(HOPPER.format(**{**FIRST, **numbers}))
        done = run("simulate", file, "--duration", 0.05, "--json", "--base", "free", *how)
        assert done.returncode == 0, done.stderr
        names = {path.name for path in folder.iterdir()}
        return json.loads(done.stdout), {name for name in names if (cache.read(name) or ({}, []))[1]}

    first, code = simulated()
    assert code
    for other in ({"mass": 2.75}, {"damping": 0.2}, {"foot": -0.25}, {"radius": 0.03}):
        summary, now = simulated(**other)
        assert now == code, other
        if how[1] == "impulse" or "mass" in other or "damping" in other:
            assert summary != first, other
    assert simulated(mass=1.0)[1] > code  # 0 and ±1 are structure
