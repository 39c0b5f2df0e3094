"""Bodies that may touch only the ground are islands: each more costs what the first one costs."""

from functools import cache

import featherweight as fw
from featherweight.compiler.plan.place import Plan
from featherweight.compiler.plan.steps import Chunk, Turn
from featherweight.contact import Impulse
from featherweight.simulation.problem import step_options
from featherweight.simulation.step import step_loop

# of a box: what it takes to the next step, what its island leaves, what is recorded; with all that is in between, 133
SLOTS = 95


@cache
def step_of(count: int) -> Plan:
    """The step of so many boxes."""
    builder = fw.Builder(f"{count} boxes")
    for k in range(count):
        inertia = fw.Inertia.box(1.0, (0.2, 0.3, 0.1))
        builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=inertia)
        builder.add_geometry(f"b{k}", fw.shapes.Box((0.2, 0.3, 0.1)))
    contact = Impulse(tolerance=1e-6, friction=0.8, pairs="ground")
    options = step_options(builder.build(), False, False, None, contact, "semi_implicit", None, True, (), ())
    return step_loop(builder.build(), options).kernel.plan


def chunks(count: int) -> list[Chunk]:
    return [step for step in step_of(count).steps if isinstance(step, Chunk)]


def largest_move(plan: Plan) -> int:
    """Most numbers that the beginning of a loop or branch moves."""
    return max(len(step.copies) for step in plan.steps if isinstance(step, Turn))


def test_each_box_takes_as_many_operations():
    one, two, four = (step_of(k).operations for k in (1, 2, 4))
    assert four - two <= 2 * (two - one) + 8  # no number of a box is touched where another one is solved


def test_a_branch_moves_numbers_of_its_own_island_alone():
    assert largest_move(step_of(12)) == largest_move(step_of(1))


def test_an_island_is_worked_through_before_the_next_begins():
    """So what it needs on the way is near, and its slots are used again by the next."""
    assert step_of(6).size - step_of(3).size <= 3 * SLOTS
    assert step_of(12).size - step_of(6).size <= 6 * SLOTS


def test_boxes_share_code():
    """But for the first and the last, which stand beside something else."""
    few, many = ({step.signature(): len(step.nodes) for step in chunks(k)} for k in (2, 12))
    assert sum(many.values()) < 1.2 * sum(few.values())
