"""The drawings of the explanations, on matplotlib: part of `make pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

import featherweight as fw

PICTURES = Path(__file__).parent / "pictures"
INK, TEAL, RED, AMBER, PALE = "#2b2b2b", "#00798c", "#d1495b", "#c98b1b", "#dfe7ea"


def sheet(width: float, height: float, columns: int = 1, **options: Any) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, **options)[0])


def blank(axes: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axis("off")


def arrow(axes: Any, start: Any, end: Any, color: str = RED, width: float = 2.0, **options: Any) -> None:
    style = {"arrowstyle": "-|>", "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0, **options}
    axes.add_patch(FancyArrowPatch(start, end, color=color, linewidth=width, **style))


def link(axes: Any, start: Any, end: Any, width: float = 11.0) -> None:
    axes.plot(*zip(start, end, strict=True), color=INK, linewidth=width + 2, solid_capstyle="round", zorder=1)
    axes.plot(*zip(start, end, strict=True), color=PALE, linewidth=width, solid_capstyle="round", zorder=2)


def hinge(axes: Any, place: Any) -> None:
    axes.add_patch(Circle(place, 0.055, facecolor="white", edgecolor=INK, linewidth=1.5, zorder=3))


def save(figure: Figure, name: str) -> None:
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})


def articulated_cart() -> None:
    """What a push of the cart meets, and why."""
    figure, (sketch, curve) = sheet(8.4, 2.9, 2, width_ratios=(1, 1.25))
    blank(sketch, (-1.5, 1.9), (-1.45, 0.55))
    sketch.axhline(-0.24, color=INK, linewidth=1)
    sketch.add_patch(
        FancyBboxPatch((-0.45, -0.18), 0.9, 0.36, boxstyle="round,pad=0.03", facecolor=PALE, edgecolor=INK)
    )
    bob = 1.15 * np.array([np.sin(0.7), -np.cos(0.7)])
    sketch.plot([0, bob[0]], [0, bob[1]], color=INK, linewidth=2.5, zorder=2)
    sketch.add_patch(Circle(bob, 0.15, facecolor=PALE, edgecolor=INK, zorder=3))
    hinge(sketch, (0, 0))
    sketch.plot([0, 0], [-0.28, -1.2], ":", color=INK, linewidth=1)
    sketch.text(0.16, -0.78, "θ", fontsize=12)
    arrow(sketch, (-1.35, 0), (-0.52, 0))
    sketch.text(-1.4, 0.12, "f = I$^A$ a", color=RED, fontsize=11)
    sketch.text(0.55, 0.05, "1 kg", fontsize=10)
    sketch.text(bob[0] + 0.22, bob[1] - 0.05, "2 kg", fontsize=10)
    theta = np.linspace(0, 180, 181)
    cartpole = fw.robots.cartpole(cart_mass=1.0, pole_mass=2.0, length=0.5)
    I_A = fw.articulated_inertia(cartpole, np.stack([0 * theta, np.radians(theta)], axis=-1)).I_A[:, 1]
    curve.plot(theta, I_A[:, 0, 0], color=TEAL, linewidth=2)
    curve.plot(theta, I_A[:, 2, 2], color=AMBER, linewidth=2)
    curve.axhline(3.0, color=INK, linewidth=0.8, linestyle="--")
    curve.text(92, 3.08, "hinge locked", fontsize=9, ha="center")
    curve.text(90, 2.3, "pushed sideways", color=TEAL, fontsize=9, ha="center")
    curve.text(90, 0.65, "pushed up and down", color=AMBER, fontsize=9, ha="center")
    curve.set(xlabel="θ from hanging [°]", ylabel="I$^A$ of the cart [kg]", ylim=(0, 3.5), xticks=range(0, 181, 45))
    curve.grid(alpha=0.25)
    save(figure, "articulated-cart")


def floating_base() -> None:
    """A body with two limbs in the air."""
    figure, (axes,) = sheet(6.4, 2.7)
    blank(axes, (-2.9, 2.9), (-1.25, 1.0))
    axes.add_patch(FancyBboxPatch((-0.9, -0.22), 1.8, 0.44, boxstyle="round,pad=0.05", facecolor=PALE, edgecolor=INK))
    for side in (-1, 1):
        hip, knee, foot = (side * 0.85, -0.1), (side * 1.25, -0.6), (side * 0.95, -1.1)
        link(axes, hip, knee, 9)
        link(axes, knee, foot, 7)
        hinge(axes, hip)
        hinge(axes, knee)
        arrow(axes, (side * 2.0, -0.45), (side * 1.38, -0.58), TEAL)
        axes.text(side * 2.05, -0.45, "τ, v ×* I v …", color=TEAL, fontsize=10, va="center",
                  ha="left" if side > 0 else "right")  # fmt: skip
        arrow(axes, (side * 0.72, 0.0), (side * 0.2, 0.0), TEAL, 1.6)
    axes.text(0, 0, "p$^A_b$", ha="center", va="center", fontsize=12, color=TEAL)
    arrow(axes, (0, 0.3), (0.55, 0.78))
    axes.text(0.62, 0.74, "a$_b$ = − (I$^A_b$)⁻¹ p$^A_b$", color=RED, fontsize=12, va="center")
    axes.text(-0.35, 0.62, "f$_b$ = 0", fontsize=12, ha="right")
    axes.plot([-0.3, -0.1], [0.6, 0.3], color=INK, linewidth=0.8)
    save(figure, "floating-base")


def contact_space() -> None:
    """A force on its way from a foot to the base."""
    figure, (axes,) = sheet(7.2, 3.2)
    blank(axes, (-2.0, 3.6), (-1.75, 0.75))
    axes.add_patch(FancyBboxPatch((-1.6, -0.2), 1.7, 0.42, boxstyle="round,pad=0.05", facecolor=PALE, edgecolor=INK))
    hip, knee, foot = (-0.1, -0.1), (0.55, -0.75), (0.1, -1.5)
    link(axes, hip, knee)
    link(axes, knee, foot, 8)
    hinge(axes, hip)
    hinge(axes, knee)
    arrow(axes, (0.1, -1.72), (0.1, -1.2), width=3)
    axes.text(0.28, -1.55, "F = [n; p × n] at the foot", color=RED, fontsize=11)
    for place, text, y in (
        (knee, "knee yields with D⁻¹ t,  t = Sᵀ F", -0.85),
        (hip, "hip yields with D⁻¹ t,  t = Sᵀ F", -0.2),
    ):
        axes.plot([place[0] + 0.1, 1.12], [place[1], y], color=TEAL, linewidth=0.8)
        axes.text(1.15, y, text, color=TEAL, fontsize=10.5, va="center")
    arrow(axes, (0.08, -1.05), (0.32, -0.72), width=2.2)
    axes.text(0.1, -0.85, "χᵀ", color=RED, fontsize=12, ha="right")
    arrow(axes, (0.18, -0.6), (-0.25, -0.3), width=1.6)
    axes.text(-0.12, -0.55, "χᵀ", color=RED, fontsize=12, ha="right")
    axes.text(-0.75, 0.0, "(I$^A_b$)⁻¹ F", color=TEAL, fontsize=11, ha="center", va="center")
    axes.text(-1.75, 0.45, "the base takes what arrives:   1/Λ = Σ tᵀ D⁻¹ t + Fᵀ (I$^A_b$)⁻¹ F", fontsize=11)
    save(figure, "contact-space")


def contact_parts() -> None:
    """Which joints yield to a force at a foot of a Mini Cheetah."""
    robot = fw.robots.mini_cheetah()
    q = robot.neutral()
    q[2], q[7:] = 0.3, np.tile([0.0, -0.8, 1.6], 4)
    _, _, D = fw.articulated_inertia(robot, q)
    chi, poses = fw.propagator(robot, q), fw.forward_kinematics(robot, q)
    foot = next(point for point in robot.contact_points if point.name == "FR_foot")
    figure, (axes,) = sheet(6.4, 2.5)
    colors = {"base": INK, "ab/ad": AMBER, "hip": TEAL, "knee": RED}
    for row, n in enumerate(np.eye(3)):  # fore and aft, sideways, up and down
        f, body, left = poses.rotation[foot.body].T @ n, foot.body, 0.0
        F = np.concatenate([f, np.cross(foot.position, f)])
        parts = []
        while body > 0:
            joint = robot.joints[body - 1]
            t = fw.jacobian(robot, q, robot.names[body])[:, joint.v].T @ F
            parts.append(float(t @ np.linalg.solve(D[joint.v, joint.v], t)))
            F, body = chi[body].T @ F, robot.parent[body]
        for (name, color), part in zip(colors.items(), reversed(parts), strict=True):
            axes.barh(2 - row, part, left=left, color=color, height=0.55, label=name if row == 0 else None)
            left += part
        axes.text(left + 0.15, 2 - row, f"Λ = {1 / left:.2f} kg", va="center", fontsize=9)
    axes.set(yticks=range(3), yticklabels=("up and down", "sideways", "fore and aft"), xlabel="1/Λ [1/kg]")
    axes.set_xlim(0, 14.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    save(figure, "contact-parts")


def contact_laws() -> None:
    """Force over depth on springs; Signorini's and Coulomb's laws."""
    figure, (soft, normal, along) = sheet(9.6, 2.9, 3)
    ball = fw.Builder("ball", gravity=(0, 0, 0)).add_body(
        "ball", joint=fw.joints.Prismatic("z"), inertia=fw.Inertia.point(1.0)
    )
    model = ball.add_contact_point("bottom", parent="ball").build()
    run = fw.rollout(
        model, np.zeros((2, 1)), np.array([[-0.3], [-1.0]]), steps=3000, dt=1e-5, contact=fw.contact.SpringDamper()
    )
    for lane, color in ((0, TEAL), (1, RED)):
        depth, force = -1e3 * run.q[lane, :-1, 0], run.contact_force[lane, :, 0, 2]
        soft.plot(depth[force > 0], force[force > 0], color=color, label=f"{-run.v[lane, 0, 0]:g} m/s")
    soft.legend(frameon=False, fontsize=8, title="1 kg comes with", title_fontsize=8)
    soft.set(xlabel="depth [mm]", ylabel="f$_n$ [N]", title="springs: the loop is what is lost")
    for axes in (normal, along):
        axes.axhline(0, color=INK, linewidth=0.6)
        axes.axvline(0, color=INK, linewidth=0.6)
        axes.set(xticks=[], yticks=[])
    normal.plot([0, 0, 1], [1, 0, 0], color=TEAL, linewidth=3)
    normal.set(
        xlim=(-0.3, 1), ylim=(-0.3, 1), xlabel="v$_n^+$ − v*", ylabel="λ$_n$", title="impulses: pushed or leaving"
    )
    along.plot([-1, 0, 0, 1], [0.6, 0.6, -0.6, -0.6], color=TEAL, linewidth=3)
    along.text(-0.95, 0.68, "slips: μ λ$_n$", fontsize=9)
    along.text(0.06, 0.12, "sticks", fontsize=9)
    along.set(xlim=(-1, 1), ylim=(-1, 1), xlabel="v$_t^+$", ylabel="λ$_t$", title="… sticking or slipping")
    for axes in (soft, normal, along):
        axes.set_title(axes.get_title(), fontsize=10)
    save(figure, "contact-laws")


def main() -> None:
    for draw in (articulated_cart, floating_base, contact_space, contact_parts, contact_laws):
        draw()


if __name__ == "__main__":
    main()
