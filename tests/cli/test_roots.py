"""Meshes in other folders, from the command line."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from featherweight.cli.commands import app

TEXT = """<robot name="r"><link name="a"><visual><geometry><mesh filename="../meshes/a.stl"/></geometry></visual></link>
</robot>"""


def test_a_mesh_beside_the_folder_needs_a_root(tmp_path) -> None:
    """But for a folder that is called as those of a package are."""
    (tmp_path / "urdf").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes/a.stl").touch()
    (tmp_path / "urdf/r.urdf").write_text(TEXT)
    found = CliRunner().invoke(app, ["lint", str(tmp_path / "urdf/r.urdf"), "--json"])
    assert found.exit_code == 0, found.stdout
    file = tmp_path / "files/r.urdf"
    file.write_text(TEXT)
    refused = CliRunner().invoke(app, ["lint", str(file), "--json"])
    assert refused.exit_code == 1
    assert any("a.stl" in f["message"] for f in json.loads(refused.stdout))
    good = CliRunner().invoke(app, ["lint", str(file), "--root", str(tmp_path), "--json"])
    assert good.exit_code == 0, good.stdout
