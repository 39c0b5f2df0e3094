"""Normal forms for reading: sums of angles where axes are parallel, common factors in front."""

from __future__ import annotations

from collections import defaultdict
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Rational, S
from sympy.external.gmpy import MPQ

if TYPE_CHECKING:
    from featherweight.equations.normal_form import Polynomial, Ring

Wave = tuple[bool, tuple[int, ...]]  # sine or cosine of whole multiples of a group's angles
Part = tuple[dict[int, int], Any]  # exponents of parameters, and a number
Term = tuple[tuple[tuple[int, int], ...], tuple[Expr, ...]]  # exponents of generators; cosines and sines of sums


def presented(ring: Ring, polynomial: Polynomial) -> Expr:
    """The shortest of: powers of cosines, powers of sines, and cosines of sums for angles that share symbols."""
    terms: dict[Term, Any] = {(tuple(ring.exponents(key)), ()): x for key, x in polynomial.items()}
    for shorter in (_sines(ring, terms), _sums(ring, terms)):
        if len(shorter) < len(terms):
            terms = shorter
    return _factored(ring, terms)


def _sines(ring: Ring, terms: dict[Term, Any]) -> dict[Term, Any]:
    """cos² = 1 - sin² wherever that leaves fewer terms, angle by angle."""
    for k in range(len(ring.angles)):
        cosine, sine = 2 * k, 2 * k + 1
        result: dict[Term, Any] = defaultdict(int)
        for (exponents, waves), x in terms.items():
            powers = dict(exponents)
            half, odd = divmod(powers.pop(cosine, 0), 2)
            for j in range(half + 1):  # (1 - s²)^half
                changed = {**powers, cosine: odd, sine: powers.get(sine, 0) + 2 * j}
                key = tuple(sorted((g, n) for g, n in changed.items() if n))
                result[key, waves] += x * (-1) ** j * sympy.binomial(half, j).p
        result = {term: x for term, x in result.items() if x}
        if len(result) < len(terms):
            terms = result
    return terms


def _groups(ring: Ring) -> list[list[int]]:
    """Angles that share symbols, by number; only groups of several."""
    groups: list[tuple[set[Any], list[int]]] = []
    for k, angle in enumerate(ring.angles):
        symbols, members = set(angle.free_symbols), [k]
        for group in [g for g in groups if g[0] & symbols]:
            symbols |= group[0]
            members += group[1]
            groups.remove(group)
        groups.append((symbols, sorted(members)))
    return [members for _, members in groups if len(members) > 1]


def _sums(ring: Ring, terms: dict[Term, Any]) -> dict[Term, Any]:
    """Products of cosines and sines within a group as cosines and sines of sums: c₁ c₁₂ + s₁ s₁₂ = cos q₂."""
    for members in _groups(ring):
        result: dict[Term, Any] = defaultdict(int)
        known: dict[tuple[tuple[int, int], ...], list[tuple[tuple[Expr, ...], Any]]] = {}
        for (exponents, waves), x in terms.items():
            own = tuple((g, n) for g, n in exponents if g // 2 in members and g < 2 * len(ring.angles))
            others = tuple(e for e in exponents if e not in own)
            if own not in known:
                known[own] = _written(ring, members, _waves(members, dict(own)))
            for factor, weight in known[own]:
                result[others, waves + factor] += weight * x
        terms = {term: x for term, x in result.items() if x}
    return terms


def _written(ring: Ring, members: list[int], waves: dict[Wave, Any]) -> list[tuple[tuple[Expr, ...], Any]]:
    """Waves as expressions without a sign in front, and their weights."""
    found = []
    for (is_sine, multiples), weight in waves.items():
        angle = sympy.Add(*(m * ring.angles[k] for m, k in zip(multiples, members, strict=True)))
        wave = sympy.sin(angle) if is_sine else sympy.cos(angle)
        sign = -1 if wave.could_extract_minus_sign() else 1
        found.append(((sign * wave,) if angle else (), sign * weight))
    return found


def _waves(members: list[int], powers: dict[int, int]) -> dict[Wave, Any]:
    """The harmonics of a product of powers: 2 cos a cos b = cos(a - b) + cos(a + b), and so on."""
    waves: dict[Wave, Any] = {(False, (0,) * len(members)): MPQ(1)}
    for generator, n in powers.items():
        for _ in range(n):
            product: dict[Wave, Any] = defaultdict(lambda: MPQ(0))
            place = members.index(generator // 2)
            for (is_sine, multiples), x in waves.items():
                for direction in (1, -1):
                    moved = list(multiples)
                    moved[place] += direction
                    # cos a cos b, sin a cos b: one sign; cos a sin b = ½ (sin(a+b) - sin(a-b)); sin a sin b likewise
                    sine_now = is_sine != bool(generator % 2)
                    sign = 1 if not generator % 2 else (-direction if is_sine else direction)
                    key, flip = _oriented(sine_now, tuple(moved))
                    if key is not None:
                        product[key] += MPQ(sign * flip, 2) * x
            waves = {wave: x for wave, x in product.items() if x}
    return waves


def _oriented(is_sine: bool, multiples: tuple[int, ...]) -> tuple[Wave | None, int]:
    """The wave with a positive first multiple, and its sign; None for sin 0."""
    first = next((m for m in multiples if m), 0)
    if first == 0 and is_sine:
        return None, 0
    if first < 0:
        return (is_sine, tuple(-m for m in multiples)), -1 if is_sine else 1
    return (is_sine, multiples), 1


def _factored(ring: Ring, terms: dict[Term, Any]) -> Expr:
    """Velocities outside, then functions of the configuration, then parameters with what they share in front."""
    if not terms:
        return S.Zero
    front, terms = _in_front(ring, terms)
    sums: dict[Expr, dict[Expr, list[Part]]] = defaultdict(lambda: defaultdict(list))
    for (exponents, waves), x in terms.items():
        velocities, functions, parameters = [], list(waves), {}
        for g, n in exponents:
            generator = ring.generators[g]
            if generator in ring.v:
                velocities.append(generator**n)
            elif generator.is_Symbol and generator not in ring.q:
                parameters[g] = n
            else:
                functions.append(generator**n)
        sums[sympy.Mul(*velocities)][sympy.Mul(*functions)].append((parameters, MPQ(x)))

    shared = _shared([part for inner in sums.values() for parts in inner.values() for part in parts])
    total = []
    for velocity, inner in sums.items():
        pieces = []
        for function, parts in inner.items():
            rest = _without(shared, parts)
            own = _shared(rest)
            bracket = sympy.Add(*(_product(ring, part) for part in _without(own, rest)))
            pieces.append(sympy.Mul(_product(ring, own), bracket) * function)
        total.append(velocity * sympy.Add(*pieces))
    return sympy.Mul(_product(ring, shared), sympy.Add(*total)) * front


def _in_front(ring: Ring, terms: dict[Term, Any]) -> tuple[Expr, dict[Term, Any]]:
    """Common factors (functions and velocities) of all terms, and the terms divided by them."""
    keys = [dict(exponents) for exponents, _ in terms]
    symbols = {g for g, _ in next(iter(terms))[0] if not ring.generators[g].is_Symbol or ring.generators[g] in ring.v}
    common = {g: n for g in symbols if (n := min(key.get(g, 0) for key in keys)) > 0}
    waves = [w for w in next(iter(terms))[1] if all(w in others for _, others in terms)]
    rest = {}
    for (exponents, own), x in terms.items():
        left = tuple((g, n - common.get(g, 0)) for g, n in exponents if n != common.get(g, 0))
        rest[left, tuple(w for w in own if w not in waves)] = x
    return sympy.Mul(*waves, *(ring.generators[g] ** n for g, n in common.items())), rest


def _shared(parts: list[Part]) -> Part:
    """Greatest common monomial and number of all terms."""
    least = {g: min(p.get(g, 0) for p, _ in parts) for g in {g for p, _ in parts for g in p}}
    numerator, denominator = 0, 1
    for _, x in parts:
        numerator, denominator = gcd(numerator, abs(int(x.numerator))), lcm(denominator, int(x.denominator))
    sign = -1 if all(x < 0 for _, x in parts) else 1
    return {g: n for g, n in least.items() if n}, MPQ(sign * numerator, denominator)


def _without(shared: Part, parts: list[Part]) -> list[Part]:
    """The terms divided by their common monomial and number."""
    monomial, number = shared
    return [({g: n for g in {*p, *monomial} if (n := p.get(g, 0) - monomial.get(g, 0))}, x / number) for p, x in parts]


def _product(ring: Ring, part: Part) -> Expr:
    monomial, x = part
    number = Rational(int(x.numerator), int(x.denominator))
    return sympy.Mul(number, *(ring.generators[g] ** n for g, n in monomial.items()))
