"""NumPy's default stream of random numbers, compiled: `default_rng(SeedSequence(…))` and what it draws, bit for bit.

A batch of draws or fits needs as many seeds; NumPy takes longer to make a seed and a generator than a kernel to fit a
hundred points, and holds Python's lock meanwhile. The algorithms are published: NumPy guarantees the stream of a
`SeedSequence` and of `PCG64`, and its bounded integers (Lemire 2019) are compared with these in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clustrep.kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray

# Of NumPy's SeedSequence, after O'Neill, "Developing a seed_seq alternative" (2015).
INIT_A, MULT_A = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
INIT_B, MULT_B = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
MIX_LEFT, MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
HALF = np.uint32(16)
POOL = 4
# Of PCG64, after O'Neill, "PCG: a family of simple fast space-efficient statistically good algorithms" (2014).
MULTIPLIER = (np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645))
LOW_HALF = np.uint64(0xFFFFFFFF)
BITS = np.uint64(32)
ONE = np.uint64(1)
ROTATION = np.uint64(58)
LAST_SIX = np.uint64(63)
UNUSED = np.uint64(11)
STEP = 1.0 / 9007199254740992.0  # 2⁻⁵³


@compiled
def fill_uniforms(words: IntArray, uniforms: FloatArray) -> None:
    """Fill an array with what `default_rng` draws first from a seed; `words` are the seed's 32-bit words."""
    flat = uniforms.reshape(-1)
    high, low, high_increment, low_increment = _first_state(words)
    for i in range(flat.size):
        high, low = _advance(high, low, high_increment, low_increment)
        flat[i] = np.float64(_output(high, low) >> UNUSED) * STEP


@compiled
def fill_integers(words: IntArray, integers: IntArray) -> None:
    """Fill an array of length n with what `integers(n, size=n)` draws first from a seed; n is at most 2³² − 1."""
    n = np.uint64(integers.size)
    unfair = (LOW_HALF + ONE - n) % n  # how many of 2³² numbers are too many for n equal shares
    high, low, high_increment, low_increment = _first_state(words)
    drawn, is_half_left = np.uint64(0), False
    i = 0
    while i < integers.size:
        if is_half_left:
            scaled = (drawn >> BITS) * n
        else:
            high, low = _advance(high, low, high_increment, low_increment)
            drawn = _output(high, low)
            scaled = (drawn & LOW_HALF) * n
        is_half_left = not is_half_left
        if (scaled & LOW_HALF) >= unfair:
            integers[i] = np.int64(scaled >> BITS)
            i += 1


@compiled
def fill_starts(
    words: IntArray, n_words: IntArray, seeds: IntArray, starts: IntArray, n_each: IntArray, uniforms: FloatArray
) -> None:
    """Fill rows with the random numbers of some starts of many fits, one fit after the other.

    words : (n_samples, n_members, n_words), of which `n_words`, (n_members,), count
    seeds : (n_fits, 2), the sample and the member of a fit
    starts : (n_fits, 2), the first of its starts that has a row, and how many have
    n_each : (n_fits,), how many numbers a start takes; the rest of a row stays as it is
    """
    row = 0
    for f in range(len(seeds)):
        sample, member = seeds[f]
        first, n_rows = starts[f]
        drawn = np.empty((first + n_rows, n_each[f]))
        fill_uniforms(words[sample, member, : n_words[member]], drawn)
        uniforms[row : row + n_rows, : n_each[f]] = drawn[first:]
        row += n_rows


@compiled
def _mix_entropy(words: IntArray, pool: IntArray) -> None:
    constant = INIT_A
    for i in range(POOL):
        word = words[i] if i < words.size else np.uint32(0)
        pool[i], constant = _hash(word, constant)
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                word, constant = _hash(pool[source], constant)
                pool[target] = _mix(pool[target], word)
    for source in range(POOL, words.size):
        for target in range(POOL):
            word, constant = _hash(words[source], constant)
            pool[target] = _mix(pool[target], word)


@compiled
def _hash(word: Any, constant: Any) -> tuple[Any, Any]:
    value = np.uint32(word ^ constant)
    constant = np.uint32(constant * MULT_A)
    value = np.uint32(value * constant)
    return np.uint32(value ^ (value >> HALF)), constant


@compiled
def _mix(first: Any, second: Any) -> Any:
    value = np.uint32(np.uint32(MIX_LEFT * first) - np.uint32(MIX_RIGHT * second))
    return np.uint32(value ^ (value >> HALF))


@compiled
def _generate(pool: IntArray, seeds: IntArray) -> None:
    constant = INIT_B
    for i in range(2 * seeds.size):
        value = np.uint32(pool[i % POOL] ^ constant)
        constant = np.uint32(constant * MULT_B)
        value = np.uint32(value * constant)
        value = np.uint32(value ^ (value >> HALF))
        if i % 2 == 0:
            seeds[i // 2] = np.uint64(value)
        else:
            seeds[i // 2] |= np.uint64(value) << BITS


@compiled
def _first_state(words: IntArray) -> Any:
    """Return state and increment of `PCG64` for a seed, each of twice 64 bits."""
    pool = np.empty(POOL, np.uint32)
    _mix_entropy(words, pool)
    seeds = np.empty(4, np.uint64)
    _generate(pool, seeds)
    low_increment = (seeds[3] << ONE) | ONE
    high_increment = (seeds[2] << ONE) | (seeds[3] >> LAST_SIX)
    high, low = _add(high_increment, low_increment, seeds[0], seeds[1])
    high, low = _advance(high, low, high_increment, low_increment)
    return high, low, high_increment, low_increment


@compiled
def _output(high: Any, low: Any) -> Any:
    """Return the 64 random bits of a state."""
    turn = high >> ROTATION
    mixed = high ^ low
    return (mixed >> turn) | (mixed << (-turn & LAST_SIX))


@compiled
def _advance(high: Any, low: Any, high_increment: Any, low_increment: Any) -> tuple[Any, Any]:
    """Multiply a number of 128 bits by the multiplier, and add the increment."""
    product = _high_product(low, MULTIPLIER[1]) + high * MULTIPLIER[1] + low * MULTIPLIER[0]
    total: tuple[Any, Any] = _add(product, low * MULTIPLIER[1], high_increment, low_increment)
    return total


@compiled
def _add(high: Any, low: Any, other_high: Any, other_low: Any) -> Any:
    total = low + other_low
    carry = ONE if total < low else np.uint64(0)
    return high + other_high + carry, total


@compiled
def _high_product(a: Any, b: Any) -> Any:
    """Return the upper 64 bits of a product of two numbers of 64 bits."""
    a_low, a_high, b_low, b_high = a & LOW_HALF, a >> BITS, b & LOW_HALF, b >> BITS
    low = a_low * b_low
    middle = a_high * b_low + (low >> BITS)
    other = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> BITS) + (other >> BITS)
