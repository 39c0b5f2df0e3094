"""Derivations as documents: LaTeX, Markdown, HTML with MathML and a drawing; the command line."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import sympy

import featherweight as fw
from cli.command_line import call, run
from equations.mechanisms import L, cartpole, double_pendulum, planar_arm, six_axes, skew_arm, top
from featherweight import equations
from featherweight.equations import Damper, JointSpring, Spring
from featherweight.equations.drawing import drawing
from featherweight.equations.expressions import Evaluation
from featherweight.equations.printing import Name

METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
methods = pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/>
    <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/></joint></robot>"""


@pytest.mark.parametrize(
    ("text", "latex", "plain"),
    [
        ("m_c", "m_{c}", "m_c"),
        ("q1", "q_{1}", "q_1"),
        ("theta_dot", r"\dot{\theta}", "θ\u0307"),
        ("theta1_ddot", r"\ddot{\theta}_{1}", "θ\u0308_1"),
        ("J_P,pole", r"J_{P,\mathrm{pole}}", "J_P,pole"),
        ("k_theta", r"k_{\theta}", "k_θ"),
        ("m_50%&#", r"m_{\mathrm{50\%\&\#}}", "m_50%&#"),
        ("m_{a}$", r"m_{\mathrm{\{a\}\$}}", "m_{a}$"),
    ],
)
def test_names_are_written_well(text: str, latex: str, plain: str) -> None:
    assert Name.of(text).latex == latex
    assert Name.of(text).text == plain


def test_latex_of_the_cartpole() -> None:
    text = equations.lagrange(cartpole(), coordinates=("x", "theta")).latex()
    assert text.startswith("\\begin{aligned}\nM(q) \\, \\ddot{q} + b(q, \\dot{q}) + g(q) &= \\tau")
    assert r"M &= \begin{bmatrix}m_{c} + m_{p} & L m_{p} \cos{\left(\theta \right)}\\" in text
    assert r"- L m_{p} \dot{\theta}^{2} \sin{\left(\theta \right)}" in text


def test_decimals_stay_decimals() -> None:
    text = equations.lagrange(fw.robots.pendulum(length=0.5)).latex()
    assert "4.905" in text
    assert r"\frac{1}{4}" in text


@methods
def test_markdown_has_numbered_steps(method) -> None:
    found = method(double_pendulum())
    text = found.markdown()
    titles = re.findall(r"^## (\d+)\. (.*)$", text, re.M)
    assert [int(n) for n, _ in titles] == list(range(1, len(titles) + 1))
    assert [t for _, t in titles][: len(found.steps)] == [s.title for s in found.steps]
    assert text.count("$$") % 2 == 0
    assert r"\cos{\left(q_{2} \right)}" in text


@methods
def test_html_is_well_formed_and_loads_nothing(method) -> None:
    text = method(cartpole(), coordinates=("x", "theta")).html()
    tree = ET.fromstring(re.sub(r"<!DOCTYPE html>|<meta [^>]*>|colspan=2", "", text))
    formulas = list(tree.iter("{http://www.w3.org/1998/Math/MathML}math"))
    assert len(formulas) > 8
    assert len(list(tree.iter("svg"))) == 1
    assert not re.search(r"(src|href)=|url\(|@import|<script", text)


def test_a_page_of_three_says_whether_they_agree() -> None:
    model = cartpole()
    text = equations.page([method(model) for method in METHODS])
    assert text.count("equal, symbol by symbol") == 3
    wrong = equations.lagrange(model, forces=[JointSpring("hinge", 1)])
    assert "different" in equations.page([equations.newton_euler(model), wrong])


def test_a_planar_mechanism_is_drawn_and_another_is_not() -> None:
    k, d = sympy.symbols("k d", positive=True)
    line = [
        Spring("cart", ("world", (-2, 0, 0)), k, 1),
        Damper(("pole", (0, 0, -L)), ("world", (2, 0, 0)), d),
    ]
    picture = drawing(equations.lagrange(cartpole(), coordinates=("x", "theta"), forces=line))
    assert picture is not None
    kinds = [e.get("class") for e in ET.fromstring(picture).iter()]
    for kind in ("slide", "rail", "rod", "mass", "spring", "damper", "angle", "gravity"):
        assert kind in kinds, kind
    assert "θ" in picture
    assert drawing(equations.lagrange(planar_arm())) is not None
    assert drawing(equations.lagrange(skew_arm())) is None
    assert drawing(equations.lagrange(top())) is None


def test_large_equations_are_written_with_shared_pieces() -> None:
    found = equations.projected_newton_euler(six_axes())
    definitions, matrices = found.shared()
    assert len(definitions) > 50
    assert sum(len(str(e)) for _, e in definitions) + len(str(matrices)) < 100_000
    values = {s: 0.1 * (k + 1) for k, s in enumerate((*found.q, *found.v, *found.inputs))}
    for symbol, e in definitions:
        values[symbol] = Evaluation(values)(e)
    short = Evaluation(values)(matrices["M"][0, 0])
    assert abs(short - fw.mass_matrix(found.model, [0.1 * (k + 1) for k in range(6)])[0, 0]) < 1e-12 * short


# ---- the command line


def test_derive_writes_a_report(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    result = run("derive", "cartpole", "--method", "all", "-o", str(path))
    assert result.returncode == 0, result.stderr
    text = path.read_text()
    for wanted in (
        "Newton-Euler",
        "projected",
        "Lagrange",
        "equal, symbol by symbol",
        "Equilibria",
        "unstable",
        "energy",
    ):
        assert wanted in text, wanted
    assert text.count('class="curves"') == 3


def test_derive_a_file_with_symbols(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    result = call("derive", str(tmp_path / "arm.urdf"), "--json", "--symbol", "upper.mass", "--symbol", "upper.com")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["parameters"] == ["c_upper_z", "m_upper"]
    assert facts["equations"]["M"] == "[[c_upper_z**2*m_upper + 1]]"
    assert [a["symbolic"] for a in facts["agreement"]] == [True, True]
    (tmp_path / "arm.urdf").write_text(ARM.replace('lower="-1"', 'lower="-0.5"'))  # it swings beyond that
    result = call("derive", str(tmp_path / "arm.urdf"), "-o", str(tmp_path / "arm.html"))
    assert result.returncode == 0, result.stderr
    assert "Released at rest, motors and limits off" in (tmp_path / "arm.html").read_text()


@pytest.mark.parametrize("suffix", [".md", ".tex"])
def test_derive_writes_other_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pendulum{suffix}"
    assert call("derive", "pendulum", "--method", "lagrange", "-o", str(path)).returncode == 0
    assert r"\theta" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "there is no file 'nothing'"),
        (("cartpole", "--method", "kane"), "--method: expected newton_euler"),
        (("cartpole", "-o", "report.doc"), "--output: expected a name that ends in .html, .md, .tex or .pdf"),
        (("cartpole", "--symbol", "cart.mass", "--numbers"), "--symbol: only for models from files"),
        (("pendulum", "-o", "no/such/folder/report.md"), "cannot write"),
    ],
)
def test_derive_gives_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    result = call("derive", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_quaternions_have_brackets_in_the_text_about_christoffel_symbols() -> None:
    """∂M/∂q is not what happens where velocities are not rates of coordinates."""
    plain, spinning = equations.lagrange(cartpole()).markdown(), equations.lagrange(top()).markdown()
    assert "∂M_jk/∂q_l" in plain
    assert "[X_l, X_k]" not in plain
    assert "[X_l, X_k]" in spinning
    assert "∂M_jk/∂q_l" not in spinning


def test_all_coordinates_of_a_joint_are_searched_for_equilibria() -> None:
    from featherweight.cli.derive import _equilibria

    body = fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.0, 0.0, -0.5))
    model = fw.Builder("gimbal").add_body("bob", joint=fw.joints.Universal("x", "y"), inertia=body).build()
    table = _equilibria(equations.lagrange(model), {})
    assert "no bounds for" not in table
    assert "stable" in table
    assert "q2 from -3.46 to 3.46" in table


def test_a_simulation_that_fails_is_told_in_the_page() -> None:
    from featherweight.cli.derive import _simulation

    link = fw.Inertia.point(1.0, (0.0, 0.0, -1.0))
    model = fw.Builder("stiff").add_body("bob", joint=fw.joints.Revolute("y"), inertia=link, stiffness=1e9).build()
    assert "failed at step" in _simulation(equations.lagrange(model), {})


def test_print_shows_the_matrices_a_line_each() -> None:
    m = sympy.symbols("m", positive=True)
    rail = fw.Builder("mass", gravity=(0, 0, 0)).add_body(
        "mass", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(m)
    )
    found = equations.lagrange(rail.build())
    assert str(found) == "mass by Lagrange, M a + b + g = tau:\nM = [[m]]\nb = [0]\ng = [0]\ntau = [tau1]"
