"""Sine and cosine as vector code, within 2 ulp for every finite argument.

Reduction: k = round(2x/π), r = x - kπ/2 with π/2 in three parts; with fused multiply-adds the
first difference is exact and the others lose one rounding in all, whatever the cancellation.
Then one odd and one even polynomial on |r| ≤ π/4. From |x| = 2^30 on, Payne and Hanek's method
multiplies the mantissa by the 192 bits of 2/π that matter. That path is taken lane by lane.
"""

from __future__ import annotations

from fractions import Fraction

from featherweight.compiler.llvm.lanes import LaneTypes

# Chebyshev fits on [0, (π/4)²] of (sin √z/√z - 1)/z and (cos √z - 1 + z/2)/z², z = r²
SIN = (
    -0.16666666666666666,
    0.008333333333330946,
    -0.0001984126983675497,
    2.755731610068303e-06,
    -2.5051131455427946e-08,
    1.591810123027412e-10,
)
COS = (
    0.041666666666666664,
    -0.0013888888888887395,
    2.4801587298763433e-05,
    -2.7557317270560326e-07,
    2.0876146024689747e-09,
    -1.1382614868556325e-11,
)
ROUND = 1.5 * 2.0**52  # adding it rounds to an integer, which stands in the last bits
LARGE = 2.0**30
WORDS = 22  # 64-bit words of 2/π, after one word of zeros


def _pi(bits: int) -> int:
    """floor(π 2^bits), nearly: Machin's formula on integers with guard bits."""
    one = 1 << (bits + 64)

    def arctan_inverse(n: int) -> int:
        total = term = one // n
        k = 1
        while term:
            term //= -(n * n)
            k += 2
            total += term // k
        return total

    return (16 * arctan_inverse(5) - 4 * arctan_inverse(239)) >> 64


def _half_pi_parts() -> tuple[float, float, float]:
    rest = Fraction(_pi(1000), 2**1001)
    parts = []
    for _ in range(3):
        parts.append(float(rest))
        rest -= Fraction(parts[-1])
    return parts[0], parts[1], parts[2]


def _two_over_pi_words() -> list[int]:
    bits = 64 * WORDS
    value = (1 << (2 * bits + 1)) // _pi(bits)
    return [0, *((value >> (64 * (WORDS - 1 - k))) & (2**64 - 1) for k in range(WORDS))]


def emit_sincos(lanes: LaneTypes, native: LaneTypes) -> str:
    """`@sincos_slots`: sines and cosines of n slots of `lanes`, in `native` vectors.

    With one lane, eight joints of one state fill a vector; with eight lanes, eight states of one
    joint do. The arithmetic of an entry is the same.
    """
    return _payne_hanek() + _large_lanes(native) + _any_vector(native) + _slots(lanes, native)


def _slots(lanes: LaneTypes, native: LaneTypes) -> str:
    """A pack's slots are vectors already; single values are gathered first, so that they fill vectors.

    The loop has no branch: that an argument was large is noticed on the way, and all is done again.
    """
    T, R, B, w = lanes.real, native.real, native.bool, native.width
    step = w // lanes.width

    def vector(j: str, place: str) -> str:
        """The place of the vector that begins with argument j."""
        if step > 1:
            return f"{place} = getelementptr {T}, ptr %args, i64 {j}"
        return f"""{place}p = getelementptr i64, ptr %table, i64 {j}
  {place}o = load i64, ptr {place}p
  {place} = getelementptr i8, ptr %ws, i64 {place}o"""

    return f"""
define void @sincos_slots(ptr %ws, ptr %table, i64 %n, i64 %ao, i64 %so, i64 %co) noinline #0 {{
entry:
  %args = getelementptr i8, ptr %ws, i64 %ao
  %sins = getelementptr i8, ptr %ws, i64 %so
  %coss = getelementptr i8, ptr %ws, i64 %co
  br label %{"gather" if step > 1 else "begin"}
{_gather(lanes) if step > 1 else ""}
begin:
  br label %loop
loop:
  %j = phi i64 [0, %begin], [%j1, %loop]
  %seen = phi {B} [zeroinitializer, %begin], [%seen1, %loop]
  {vector("%j", "%px")}
  %x = load {R}, ptr %px, align {native.bytes}
  {_is_large(native)}
  %seen1 = or {B} %seen, %large
  {_reduce(native)}
  {_sincos(native, "%r3", "%q1")}
  %psin = getelementptr {T}, ptr %sins, i64 %j
  %pcos = getelementptr {T}, ptr %coss, i64 %j
  store {R} %sin, ptr %psin, align {native.bytes}
  store {R} %cos, ptr %pcos, align {native.bytes}
  %j1 = add i64 %j, {step}
  %more = icmp slt i64 %j1, %n
  br i1 %more, label %loop, label %check
check:
  %bits = bitcast {B} %seen1 to i{w}
  %some = icmp ne i{w} %bits, 0
  br i1 %some, label %again, label %end
again:
  %a = phi i64 [0, %check], [%a1, %again]
  {vector("%a", "%pxa")}
  %psina = getelementptr {T}, ptr %sins, i64 %a
  %pcosa = getelementptr {T}, ptr %coss, i64 %a
  call void @sincos_vector(ptr %pxa, ptr %psina, ptr %pcosa)
  %a1 = add i64 %a, {step}
  %amore = icmp slt i64 %a1, %n
  br i1 %amore, label %again, label %end
end:
  ret void
}}
"""


def _gather(lanes: LaneTypes) -> str:
    """`gather`: single values from their slots into a row."""
    T, size = lanes.real, lanes.bytes
    return f"""gather:
  %g = phi i64 [0, %entry], [%g1, %gather]
  %gp = getelementptr i64, ptr %table, i64 %g
  %go = load i64, ptr %gp
  %from = getelementptr i8, ptr %ws, i64 %go
  %gx = load {T}, ptr %from, align {size}
  %gto = getelementptr {T}, ptr %args, i64 %g
  store {T} %gx, ptr %gto, align {size}
  %g1 = add i64 %g, 1
  %gmore = icmp slt i64 %g1, %n
  br i1 %gmore, label %gather, label %begin"""


def _any_vector(native: LaneTypes) -> str:
    """`@sincos_vector`: of one vector, whose arguments may be of any size."""
    T, I = native.real, native.int
    return f"""
define internal void @sincos_vector(ptr %px, ptr %psin, ptr %pcos) noinline cold #0 {{
  %xs = alloca {T}, align 64
  %rs = alloca {T}, align 64
  %ks = alloca {I}, align 64
  %x = load {T}, ptr %px, align {native.bytes}
  {_reduce(native)}
  store {T} %x, ptr %xs, align 64
  store {T} %r3, ptr %rs, align 64
  store {I} %q1, ptr %ks, align 64
  call void @sincos_large(ptr %xs, ptr %rs, ptr %ks)
  %r4 = load {T}, ptr %rs, align 64
  %q4 = load {I}, ptr %ks, align 64
  {_sincos(native, "%r4", "%q4")}
  store {T} %sin, ptr %psin, align {native.bytes}
  store {T} %cos, ptr %pcos, align {native.bytes}
  ret void
}}
"""


def _is_large(native: LaneTypes) -> str:
    """%large: where |x| is too large for %r3, or x is not a number."""
    return f"""%ax = call {native.real} @llvm.fabs.{native.suffix}({native.real} %x)
  %large = fcmp uge {native.real} %ax, {native.literal(LARGE)}"""


def _reduce(native: LaneTypes) -> str:
    """%r3 = x - kπ/2; the last bits of %q1 are k."""
    T = native.real
    fma = f"call {T} @llvm.fma.{native.suffix}"
    p1, p2, p3 = (native.literal(-p) for p in _half_pi_parts())
    two_over_pi = native.literal(float(2 / Fraction(_pi(200), 2**200)))
    return f"""%t = {fma}({T} %x, {T} {two_over_pi}, {T} {native.literal(ROUND)})
  %k = fsub {T} %t, {native.literal(ROUND)}
  %r1 = {fma}({T} %k, {T} {p1}, {T} %x)
  %r2 = {fma}({T} %k, {T} {p2}, {T} %r1)
  %r3 = {fma}({T} %k, {T} {p3}, {T} %r2)
  %q1 = bitcast {T} %t to {native.int}"""


def _sincos(native: LaneTypes, r: str, q: str) -> str:
    """%sin and %cos of x = r + qπ/2, |r| ≤ π/4; of -0 the sine is -0."""
    T, I, B = native.real, native.int, native.bool
    fma = f"call {T} @llvm.fma.{native.suffix}"
    body = []

    def horner(name: str, coefficients: tuple[float, ...]) -> str:
        value = native.literal(coefficients[-1])
        for k, c in enumerate(reversed(coefficients[:-1])):
            body.append(f"%{name}{k} = {fma}({T} {value}, {T} %z, {T} {native.literal(c)})")
            value = f"%{name}{k}"
        return value

    sin, cos = horner("ps", SIN), horner("pc", COS)
    polynomials = "\n  ".join(body)
    sign = native.integer(-(2**63))
    return f"""%z = fmul {T} {r}, {r}
  {polynomials}
  %rz = fmul {T} {r}, %z
  %s0 = {fma}({T} {sin}, {T} %rz, {T} {r})
  %h = {fma}({T} %z, {T} {native.literal(-0.5)}, {T} {native.literal(1.0)})
  %zz = fmul {T} %z, %z
  %c0 = {fma}({T} {cos}, {T} %zz, {T} %h)
  %q0 = and {I} {q}, {native.integer(1)}
  %odd = icmp ne {I} %q0, {native.integer(0)}
  %s1 = select {B} %odd, {T} %c0, {T} %s0
  %c1 = select {B} %odd, {T} %s0, {T} %c0
  %ssign = shl {I} {q}, {native.integer(62)}
  %ssignbit = and {I} %ssign, {sign}
  %csign = add {I} %ssign, {native.integer(2**62)}
  %csignbit = and {I} %csign, {sign}
  %s1i = bitcast {T} %s1 to {I}
  %c1i = bitcast {T} %c1 to {I}
  %s2i = xor {I} %s1i, %ssignbit
  %c2i = xor {I} %c1i, %csignbit
  %s2 = bitcast {I} %s2i to {T}
  %zero = fcmp oeq {T} %x, {native.literal(0.0)}
  %sin = select {B} %zero, {T} %x, {T} %s2
  %cos = bitcast {I} %c2i to {T}"""


def _large_lanes(native: LaneTypes) -> str:
    one = LaneTypes(1)
    return f"""
define internal void @sincos_large(ptr %xs, ptr %rs, ptr %ks) noinline cold #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %next]
  %px = getelementptr double, ptr %xs, i64 %i
  %pr = getelementptr double, ptr %rs, i64 %i
  %pk = getelementptr i64, ptr %ks, i64 %i
  %x = load double, ptr %px
  %ax = call double @llvm.fabs.f64(double %x)
  %small = fcmp olt double %ax, {one.literal(LARGE)}
  br i1 %small, label %next, label %large
large:
  %finite = fcmp olt double %ax, {one.literal(float("inf"))}
  br i1 %finite, label %reduce, label %bad
bad:
  %nan = fsub double %x, %x
  store double %nan, ptr %pr
  store i64 0, ptr %pk
  br label %next
reduce:
  call void @payne_hanek(double %x, ptr %pr, ptr %pk)
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, {native.width}
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


PRODUCT = """%M = zext i64 %m to i128
  %F0 = zext i64 %f0 to i128
  %F1 = zext i64 %f1 to i128
  %P0 = mul i128 %M, %F0
  %P1 = mul i128 %M, %F1
  %p2 = mul i64 %m, %f2
  %P0h = lshr i128 %P0, 64
  %S1 = add i128 %P1, %P0h
  %n0 = trunc i128 %P0 to i64
  %n1 = trunc i128 %S1 to i64
  %S1h = lshr i128 %S1, 64
  %s1h = trunc i128 %S1h to i64
  %n2 = add i64 %p2, %s1h"""  # %n2 %n1 %n0: m F mod 2^192, in words of 64 bits


def _payne_hanek() -> str:
    """x = m 2^e: the 192 bits F of 2/π from bit e-2 on give 2x/π mod 4 = (m F mod 2^192) 2^-190.

    The fraction is split into 53 exact bits and the rest before it is multiplied by π/2: one rounding.
    """
    one = LaneTypes(1)
    p1, p2, _ = _half_pi_parts()
    words = ", ".join(f"i64 {w}" for w in _two_over_pi_words())
    return f"""
@two_over_pi = internal constant [{WORDS + 1} x i64] [{words}], align 64
define internal void @payne_hanek(double %x, ptr %pr, ptr %pk) noinline cold #0 {{
  %bits = bitcast double %x to i64
  %negative = icmp slt i64 %bits, 0
  %shifted = lshr i64 %bits, 52
  %exponent = and i64 %shifted, 2047
  %fraction = and i64 %bits, {2**52 - 1}
  %m = or i64 %fraction, {2**52}
  %position = sub i64 %exponent, {1075 + 2 - 64}
  %word = lshr i64 %position, 6
  %shift = and i64 %position, 63
  %a0 = getelementptr i64, ptr @two_over_pi, i64 %word
  %a1 = getelementptr i64, ptr %a0, i64 1
  %a2 = getelementptr i64, ptr %a0, i64 2
  %a3 = getelementptr i64, ptr %a0, i64 3
  %w0 = load i64, ptr %a0
  %w1 = load i64, ptr %a1
  %w2 = load i64, ptr %a2
  %w3 = load i64, ptr %a3
  %f2 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %f1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %f0 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  {PRODUCT}
  %quadrant = lshr i64 %n2, 62
  %g2 = call i64 @llvm.fshl.i64(i64 %n2, i64 %n1, i64 2)
  %g1 = call i64 @llvm.fshl.i64(i64 %n1, i64 %n0, i64 2)
  %up = lshr i64 %g2, 63
  %k = add i64 %quadrant, %up
  %flip = ashr i64 %g2, 63
  %h2 = xor i64 %g2, %flip
  %h1 = xor i64 %g1, %flip
  %top = and i64 %h2, -2048
  %rest = call i64 @llvm.fshl.i64(i64 %h2, i64 %h1, i64 53)
  %hi0 = uitofp i64 %top to double
  %lo0 = uitofp i64 %rest to double
  %hi = fmul double %hi0, {one.literal(2.0**-64)}
  %lo = fmul double %lo0, {one.literal(2.0**-117)}
  %lo1 = fmul double %lo, {one.literal(p1)}
  %tail = call double @llvm.fma.f64(double %hi, double {one.literal(p2)}, double %lo1)
  %r0 = call double @llvm.fma.f64(double %hi, double {one.literal(p1)}, double %tail)
  %sign = icmp slt i64 %g2, 0
  %turned = xor i1 %sign, %negative
  %rn = fneg double %r0
  %r = select i1 %turned, double %rn, double %r0
  %kn = sub i64 0, %k
  %ks = select i1 %negative, i64 %kn, i64 %k
  store double %r, ptr %pr
  store i64 %ks, ptr %pk
  ret void
}}
"""
