"""Object code for other machines: it can be made here, and refers to nothing but the support functions."""

import struct

import llvmlite.binding as llvm
import numpy as np
import pytest

import featherweight as fw
from compiler.test_repeat import kernel, nested
from compiler.test_same_bits import branching_robot
from featherweight.compiler.llvm.entry import emit_entry, kinds
from featherweight.compiler.llvm.support import GROUPS, attributes, emit_support
from featherweight.compiler.native.target import Target
from featherweight.compiler.runtime.mailbox import emit_handover
from featherweight.dynamics.functions import FORWARD_DYNAMICS
from featherweight.scalar import ceil, dense, exp, floor, log, lookup, random, random_normal, round, tanh

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()

AVX512 = "+avx2,+fma,+avx512f,+avx512dq,+avx512vl,-prefer-256-bit"
TARGETS = {
    "linux-avx2": Target("x86_64-unknown-linux-gnu", "x86-64", "+avx2,+fma", 4),
    "linux-avx512": Target("x86_64-unknown-linux-gnu", "x86-64", AVX512, 8),
    "linux-arm64": Target("aarch64-unknown-linux-gnu", "generic", "+neon", 2),
    "macos-arm64": Target("arm64-apple-macosx11.0.0", "apple-m1", "", 2),
    "macos-avx2": Target("x86_64-apple-macosx11.0.0", "x86-64", "+avx2,+fma", 4),
    "windows-avx2": Target("x86_64-pc-windows-msvc", "x86-64", "+avx2,+fma", 4),
    "windows-avx512": Target("x86_64-pc-windows-msvc", "x86-64", AVX512, 8),
}
MACHINE = {"linux-arm64": 183, "linux-avx2": 62, "linux-avx512": 62}  # e_machine of ELF
KERNEL = FORWARD_DYNAMICS._make(branching_robot(), ())
LEGS = FORWARD_DYNAMICS._make(fw.robots.mini_cheetah(), ())  # four alike: functions that are shared
REPEATS = kernel(lambda a, b: [*nested(a, b), lookup([1.0, 2.0], a)], 2, 5)
FUNCTIONS = kernel(lambda a, b: [exp(a), log(b), tanh(a), floor(a), ceil(b), round(a), random(a, b)], 2, 7)
POLICY = kernel(lambda a, b: [*dense(np.ones((40, 2)), [a, b], None, tanh)[:4], random_normal(a, b)], 2, 5)


def text(data, start):
    return data[start : data.index(b"\0", start)].decode()


def elf_symbols(data):
    """(name, defined) of a 64-bit ELF object."""
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count, _ = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + k * size) for k in range(count)]
    for _, kind, _, _, offset, length, link, _, _, entry in headers:
        if kind == 2:  # symbol table
            names = headers[link][4]
            for at in range(offset + entry, offset + length, entry):  # the first symbol is empty
                name, _, _, section = struct.unpack_from("<IBBH", data, at)
                yield text(data, names + name), section != 0


def macho_symbols(data):
    """(name, defined) of a 64-bit Mach-O object."""
    (commands,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:  # LC_SYMTAB
            offset, count, names, _ = struct.unpack_from("<IIII", data, at + 8)
            for k in range(count):
                name, kind, _, _ = struct.unpack_from("<IBBH", data, offset + 16 * k)
                yield text(data, names + name).removeprefix("_"), kind & 0x0E != 0
        at += size


def coff_symbols(data):
    """(name, defined) of a COFF object."""
    offset, count = struct.unpack_from("<II", data, 8)
    names = offset + 18 * count
    k = 0
    while k < count:
        at = offset + 18 * k
        value, section, _, storage, more = struct.unpack_from("<IhHBB", data, at + 8)
        zero, place = struct.unpack_from("<II", data, at)
        name = text(data, names + place) if zero == 0 else data[at : at + 8].rstrip(b"\0").decode()
        yield name, section != 0 or (storage == 2 and value != 0)
        k += 1 + more


def symbols(data):
    """Names that an object defines, and those it needs from elsewhere."""
    if data[:4] == b"\x7fELF":
        pairs = list(elf_symbols(data))
    elif data[:4] == b"\xcf\xfa\xed\xfe":
        pairs = list(macho_symbols(data))
    else:
        pairs = list(coff_symbols(data))
    return {name for name, defined in pairs if defined}, {name for name, defined in pairs if not defined}


@pytest.mark.parametrize("lanes", ["one", "pack"])
@pytest.mark.parametrize("name", TARGETS)
def test_code_for_other_machines_needs_nothing_from_outside(name, lanes):
    target = TARGETS[name]
    width = 1 if lanes == "one" else target.width
    support, found = set(), {}  # on Windows, each module has all it calls
    if "windows" not in name:
        found = {group: symbols(target.object_code(emit_support(width, target, group))) for group in GROUPS}
        assert {"pack", "unpack", "sincos_slots", "share"} <= found["common"][0]
        assert not any(undefined for _, undefined in found.values())
    for each in (KERNEL, LEGS, REPEATS, FUNCTIONS, POLICY):
        module = each.module(width, target)
        if found:
            support = set().union(*(found[group][0] for group in module.groups))
        defined, undefined = symbols(target.object_code(module.text))
        assert {"run", "rows"} <= defined
        assert undefined <= support


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("name", TARGETS)
def test_modules_have_no_support_functions_that_they_do_not_call(name, width):
    """Random numbers and products of matrices take LLVM as long as all other support functions together."""
    rare = {KERNEL: (), REPEATS: (), FUNCTIONS: ("random",), POLICY: ("random", "products")}
    for each, groups in rare.items():
        module = each.module(width, TARGETS[name])
        assert module.groups == ("common", *groups)
        assert ("@draw_random_centre(" in module.common) == ("random" in groups)
        assert ("@linear_shared(" in module.common) == ("products" in groups)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_the_entry_point_needs_nothing_from_outside(name, batch):
    target = TARGETS[name]
    shapes = [argument.shape for argument in KERNEL.inputs]
    text = emit_entry(*kinds(shapes, KERNEL.outputs), batch) + attributes(target)
    defined, undefined = symbols(target.object_code(text))
    assert "entry" in defined
    assert undefined == set()


@pytest.mark.parametrize("name", TARGETS)
def test_the_hand_over_between_threads_needs_nothing_from_outside(name):
    target = TARGETS[name]
    defined, undefined = symbols(target.object_code(emit_handover(target.arch)))
    assert {"serve", "team"} <= defined
    assert undefined == set()


@pytest.mark.parametrize("name", TARGETS)
def test_the_symbol_readers_see_what_is_missing(name):
    ir = """
declare i64 @missing(i64)
define i64 @present(i64 %x) {
  %y = call i64 @missing(i64 %x)
  ret i64 %y
}
"""
    data = TARGETS[name].object_code(ir)
    defined, undefined = symbols(data)
    assert "present" in defined
    assert undefined == {"missing"}
    if name in MACHINE:
        assert struct.unpack_from("<H", data, 18) == (MACHINE[name],)


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_object_is_made_every_time(name):
    target = TARGETS[name]
    assert target.object_code(KERNEL.module(1, target).text) == target.object_code(KERNEL.module(1, target).text)
