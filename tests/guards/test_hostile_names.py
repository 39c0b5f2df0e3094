"""Names of robots, links, joints and files are data: they run nothing in any page, file or terminal that we write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

import featherweight as fw

typer_testing = pytest.importorskip("typer.testing")
equations = pytest.importorskip("featherweight.equations")
for library in ("PIL", "matplotlib", "viser"):
    pytest.importorskip(library)
from featherweight.report import write_report  # noqa: E402
from viewer.chromium import Page, found  # noqa: E402

RUN = "window.ran=1"  # what each name tries to do
NAMES = (
    f"<img src=x onerror={RUN}>",
    f"</script></style></title><script>{RUN}</script>",
    f"\"><svg onload={RUN}>'",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"]]><script>{RUN}</script>",
    f"a_<img src=x onerror={RUN}>,b_dot",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"{{{RUN}}}",
    f"[a](javascript:{RUN})",
    f"$\\frac{{<script>{RUN}</script>$",
    f"$$\n<script>{RUN}</script>\n$$",
)
TERMINAL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\u202e[/bold][link=file:///etc]x[/]\r\x08"


def robot(name: str) -> fw.Model:
    return (
        fw.Builder(name)
        .add_body(name + "1", joint=fw.joints.Revolute("y"), joint_name=name + "j1", damping=0.1,
                  inertia=fw.Inertia.sphere(1.0, 0.1, (0, 0, -1)), limits=fw.Limits(-3, 3, 5, 7))
        .add_body(name + "2", parent=name + "1", joint=fw.joints.Prismatic("x"), joint_name=name + "j2",
                  placement=fw.Placement((0, 0, -1)), inertia=fw.Inertia.sphere(1.0, 0.1, (0, 0, -1)))
        .add_contact_point(name + "p", parent=name + "2", position=(0, 0, -2.2))
        .build()
    )  # fmt: skip


def moved(model: fw.Model) -> fw.Trajectory:
    ground = fw.contact.Impulse(fw.contact.Plane(point=(0, 0, -4.0)))
    return fw.simulate(model, [0.3, 0.0], [0.0, 0.0], duration=0.05, dt=1e-2, contact=ground)


def command(*arguments: object) -> str:
    """What a command writes, on both streams."""
    from featherweight.cli import derive  # noqa: F401  (adds its command)
    from featherweight.cli.commands import app

    return str(typer_testing.CliRunner().invoke(app, list(map(str, arguments))).output)


def of_xml(name: str) -> str:
    """XML knows no control characters but those of ISO 6429's second set."""
    return re.sub("[\x00-\x1f]", "", name)


def urdf(folder: Path, name: str) -> Path:
    """A file in which everything is called that."""
    link = '<link name={}><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    path = folder / "robot.urdf"
    path.write_text(
        f"<robot name={quoteattr(name)}>{link.format(quoteattr(name))}{link.format(quoteattr(name + 'L'))}"
        f'<joint name={quoteattr(name + "J")} type="continuous"><parent link={quoteattr(name)}/>'
        f"<child link={quoteattr(name + 'L')}/></joint></robot>"
    )
    return path


def pages(folder: Path, name: str) -> Iterator[Path]:
    """Every kind of page that is written, about a robot with this name."""
    model = robot(name)
    run = moved(model)
    fw.viewer.export([run, run], folder / "several.html", labels=[name, name])
    fw.viewer.export(run, folder / "one.html")
    run.plot(path=folder / "curves.html")
    write_report({name: run}, folder / "report.html", title=name, notes=[name], links={name: "a.html"}, rate=5)
    both = [equations.lagrange(model), equations.newton_euler(model)]
    (folder / "equations.html").write_text(equations.page(both), "utf-8")
    name = of_xml(name)
    source = urdf(folder, name)
    command(
        "derive", source, "--symbol", f"{name}L.mass", "--symbol", f"{name}J.damping", "-o", folder / "derived.html"
    )
    command("simulate", source, "--duration", 0.01, "--report", folder / "simulated.html")
    found = sorted(folder.glob("*.html"))
    assert len(found) == 7
    yield from found


class Tags(HTMLParser):
    """All tags with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def tags_of(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    return tags


@pytest.mark.parametrize("name", NAMES)
def test_no_page_has_a_tag_or_a_handler_from_a_name(name: str, tmp_path: Path) -> None:
    for page in pages(tmp_path, name):
        for tag, attributes in tags_of(page.read_text("utf-8")).found:
            assert tag not in ("mglyph", "iframe", "object", "embed")
            assert not any(key.startswith("on") for key in attributes), (page.name, tag, attributes)
            assert tag != "img" or str(attributes["src"]).startswith("data:image/")
        scripts = page.read_text("utf-8").count("<script")
        assert scripts == (0 if page.name in ("equations.html", "derived.html") else 1)


@pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
def test_no_name_runs_in_a_real_browser(tmp_path: Path) -> None:
    with Page("about:blank") as page:
        for k, name in enumerate(NAMES[:3]):
            (tmp_path / str(k)).mkdir()
            for path in pages(tmp_path / str(k), name):
                page.call("Page.navigate", url=path.as_uri())
                page.until("document.readyState == 'complete'")
                assert page.value("window.ran") is None, path.name
        asked = [url for url in page.requests if not url.startswith(("data:", "blob:", "about:", "file:"))]
        assert asked == []
        assert not [url for url in page.requests if url.startswith("file:") and not url.endswith(".html")]


@pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")
@pytest.mark.parametrize("name", [NAMES[0], NAMES[7]])
def test_no_name_runs_in_the_viewer(name: str) -> None:
    """Its panel has a slider for each joint and the robot's name above."""
    with fw.viewer.show(robot(name), block=False, browser=False) as viewer, Page(viewer.url) as page:
        page.until("document.querySelector('[role=slider]') != null", 60)
        page.until("document.body.innerText.includes('j2')", 30)
        assert page.value("window.ran") is None


@pytest.mark.parametrize("name", NAMES)
def test_markdown_and_latex_have_names_as_text(name: str) -> None:
    for derived in (equations.lagrange(robot(name)), equations.newton_euler(robot(name))):
        text = derived.markdown()
        assert not re.search(r"<[a-zA-Z/!?]", text + derived.latex())
        assert not re.search(r"(?<!\\)\]\(", text)  # a link
        outside = re.sub(r"^\$\$\n.*?\n\$\$$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert not re.search(r"(?<!\\)[$`]", outside.replace("`lambdify`", ""))


@pytest.mark.parametrize("name", [*NAMES, TERMINAL, "[/]", "[bold]", "x\\"])
def test_a_terminal_obeys_no_name(name: str, tmp_path: Path) -> None:
    path = urdf(tmp_path, of_xml(name))
    (tmp_path / "bad.urdf").write_text(path.read_text().replace('<mass value="1"/>', '<mass value="-1"/>'))
    shown = [command(*words) for words in (
        ("info", path), ("info", path, "--json"), ("lint", path), ("lint", tmp_path / "bad.urdf"),
        ("simulate", path, "--duration", 0.01, "--base", "fixed"), ("simulate", path, "--set", f"{name}=1"),
        ("derive", path, "--method", "lagrange"), ("derive", path, "-o", tmp_path / "a.tex"),
        ("info", tmp_path / name.replace("/", "-")), ("info", path, "--base", name),
    )]  # fmt: skip
    for text in shown:
        assert text.strip()
        assert "Traceback" not in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), text


def test_names_in_plots_and_pictures_are_text(tmp_path: Path) -> None:
    for k, name in enumerate((NAMES[1], NAMES[9], TERMINAL, "$\\nonsense{$", "_left_out")):
        model = robot(name)
        run = moved(model)
        figure = fw.plot.plot(run, path=tmp_path / f"{k}.svg")
        legends = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
        assert any("j1" in text for text in legends)
        assert "<script" not in (tmp_path / f"{k}.svg").read_text("utf-8")
        fw.plot.movie(run, tmp_path / f"{k}.gif", labels=[name], rate=5)


def test_links_of_a_report_lead_to_pages(tmp_path: Path) -> None:
    run = moved(robot("r"))
    with pytest.raises(ValueError, match="links: expected a file or an address, got 'javascript:"):
        write_report({"r": run}, tmp_path / "r.html", title="r", links={"x": "javascript:alert(1)"})
    assert np.isfinite(run.q).all()
