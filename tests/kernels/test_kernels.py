from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import cache
from itertools import permutations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.kernels import plain

from clustrep.agreement.contingency import Counts
from clustrep.kernels import compiled, information

KERNELS = ("mutual_information", "entropy", "expected_mutual_information")


@st.composite
def batches(draw, max_tables=3, max_labels=6, max_count=40):
    """Some tables of one shape, none without points; empty rows, columns and cells are common."""
    shape = tuple(draw(st.integers(1, most)) for most in (max_tables, max_labels, max_labels))
    counts = st.one_of(st.integers(0, 2), st.integers(0, max_count))
    tables = draw(arrays(np.int64, shape, elements=counts, fill=st.just(0)))
    tables[:, 0, 0] += tables.sum(axis=(1, 2)) == 0
    return tables


def arguments(kernel, tables):
    counts = Counts.from_tables(tables)
    return {
        "mutual_information": (
            counts.cells,
            counts.row_of_cell,
            counts.column_of_cell,
            counts.rows,
            counts.columns,
            counts.totals,
        ),
        "entropy": (counts.rows, counts.totals),
        "expected_mutual_information": (counts.rows, counts.columns, counts.totals),
    }[kernel]


def assert_equals_the_plain_one(kernel, tables, relative=1e-10):
    # The plain formula takes differences of logarithms of factorials, hence no better than about 1e-11 at these sizes.
    args = arguments(kernel, tables)
    computed, expected = getattr(information, kernel)(*args), getattr(plain, kernel)(*args)
    assert computed.shape == (len(tables),)
    np.testing.assert_allclose(computed, expected, rtol=relative, atol=1e-14)


# ---------------------------------------------------------------------------------------------------------------------
# compiled = plain


@pytest.mark.parametrize("kernel", KERNELS)
@given(tables=batches())
def test_a_kernel_equals_the_plain_function_of_its_name(kernel, tables):
    assert_equals_the_plain_one(kernel, tables)


EXTREME_TABLES = {
    "one point": [[1]],
    "one cell": [[500]],
    "one row": [[3, 1, 4, 1, 5, 9]],
    "one column": [[2], [7], [1], [8]],
    "singletons against themselves": np.eye(30),
    "singletons against one block": np.ones((30, 1)),
    "singletons against pairs": np.kron(np.eye(15), np.ones((2, 1))),
    "independent": np.full((4, 5), 6),
    "identical": np.diag([1, 10, 100, 1000]),
    "one giant block": [[1, 0, 0], [0, 1, 1], [2, 0, 3000]],
    "one giant cell among singletons": np.diag([1] * 10 + [2000]),
    "blocks that must overlap": [[900, 50], [50, 0]],
    "empty rows and columns": [[0, 0, 0, 0], [0, 5, 0, 2], [0, 0, 0, 0], [0, 1, 0, 7]],
    "wide": np.arange(60).reshape(1, 60) % 4 + np.zeros((2, 1)),
    "tall": np.arange(60).reshape(60, 1) % 4 + np.zeros((1, 2)),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", EXTREME_TABLES)
def test_a_kernel_equals_the_plain_function_on_extreme_shapes(kernel, shape):
    assert_equals_the_plain_one(kernel, np.array(EXTREME_TABLES[shape], dtype=float)[None])


@pytest.mark.parametrize("kernel", KERNELS)
@given(tables=batches(max_tables=2, max_labels=4, max_count=15))
def test_a_kernel_compiled_equals_itself_interpreted(kernel, tables):
    # Also what shows its lines to coverage, which can't look into compiled code.
    args = arguments(kernel, tables)
    compiled = getattr(information, kernel)(*args)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name, function in vars(information).items() if hasattr(function, "py_func")]:
            patch.setattr(information, name, getattr(information, name).py_func)
        interpreted = getattr(information, kernel)(*args)
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kernel", KERNELS)
@given(tables=batches(), data=st.data())
def test_empty_rows_and_columns_change_no_bit(kernel, tables, data):
    padded = tables
    for axis in (1, 2):
        positions = data.draw(st.lists(st.integers(0, tables.shape[axis]), max_size=3))
        padded = np.insert(padded, positions, 0, axis=axis)
    function = getattr(information, kernel)
    np.testing.assert_array_equal(function(*arguments(kernel, padded)), function(*arguments(kernel, tables)))


@pytest.mark.parametrize("kernel", KERNELS)
@given(tables=batches(max_tables=4))
def test_a_table_has_the_same_bits_alone_and_among_others(kernel, tables):
    function = getattr(information, kernel)
    alone = [function(*arguments(kernel, table[None]))[0] for table in tables]
    np.testing.assert_array_equal(function(*arguments(kernel, tables)), alone)


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_tables_have_no_scores(kernel):
    assert getattr(information, kernel)(*arguments(kernel, np.empty((0, 3, 2)))).shape == (0,)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_leaves_its_arguments_alone(kernel):
    args = arguments(kernel, np.array([[[5, 1], [0, 2], [9, 9]]]))
    before = [arg.copy() for arg in args]
    getattr(information, kernel)(*args)
    for arg, copy in zip(args, before, strict=True):
        np.testing.assert_array_equal(arg, copy)


# ---------------------------------------------------------------------------------------------------------------------
# closed forms


@pytest.mark.parametrize("k", [1, 2, 10, 1000])
def test_entropy_of_equal_blocks_is_the_logarithm_of_their_number(k):
    assert information.entropy(np.full((1, k), 7.0), np.array([7.0 * k]))[0] == pytest.approx(math.log(k), abs=1e-12)


@given(tables=batches())
def test_mutual_information_lies_between_zero_and_both_entropies(tables):
    counts = Counts.from_tables(tables)
    mi = information.mutual_information(*arguments("mutual_information", tables))
    h_u, h_v = (information.entropy(sizes, counts.totals) for sizes in (counts.rows, counts.columns))
    assert np.all(mi >= 0)
    assert np.all(mi <= np.minimum(h_u, h_v) + 1e-13)


def test_mutual_information_of_independent_partitions_is_zero():
    rows, columns = np.array([1, 2, 3, 10, 17]), np.array([7, 11, 13])
    args = arguments("mutual_information", np.outer(rows, columns)[None])
    assert information.mutual_information(*args) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("sizes", [[1, 6], [2, 5], [3, 4], [1, 2, 4], [2, 2, 3], [1, 1, 1, 2, 2]])
def test_expected_mutual_information_against_singletons_is_the_entropy(sizes):
    # However singletons are permuted, they tell everything.
    n = float(sum(sizes))
    args = np.array([sizes], dtype=float), np.ones((1, int(n))), np.array([n])
    assert information.expected_mutual_information(*args) == pytest.approx(
        information.entropy(args[0], args[2]), abs=1e-14
    )


@pytest.mark.parametrize(
    ("rows", "columns"),
    [([3, 4], [2, 5]), ([1, 2, 4], [3, 4]), ([2, 2, 3], [1, 1, 5]), ([1, 6], [1, 6]), ([6], [2, 4])],
)
def test_expected_mutual_information_is_the_mean_over_all_permutations(rows, columns):
    u, v = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (rows, columns))
    orders = np.array(list(permutations(range(len(u)))))
    tables = np.zeros((len(orders), len(rows), len(columns)))
    for p in range(len(u)):
        tables[np.arange(len(orders)), u[orders[:, p]], v[p]] += 1
    mean = plain.mutual_information(*arguments("mutual_information", tables)).mean()
    sizes = np.array([rows], dtype=float), np.array([columns], dtype=float), np.array([float(len(u))])
    assert information.expected_mutual_information(*sizes)[0] == pytest.approx(mean, abs=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# one cell of the expectation

CELLS = [(a, b, n) for n in (1, 2, 3, 9) for a in range(1, n + 1) for b in range(1, n + 1)]


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
def test_expected_cell_is_the_mean_over_the_hypergeometric_distribution(form):
    cell = information._expected_cell if form == "compiled" else information._expected_cell.py_func
    for a, b, n in CELLS:
        exact = math.fsum(
            math.comb(a, x) * math.comb(n - a, b - x) / math.comb(n, b) * x / n * math.log(n * x / (a * b))
            for x in range(max(1, a + b - n), min(a, b) + 1)
        )
        assert cell(float(a), float(b), float(n)) == pytest.approx(exact, rel=1e-13, abs=1e-16), (a, b, n)


@given(n=st.integers(1, 10_000), a=st.integers(1, 10_000), b=st.integers(1, 10_000))
def test_expected_cell_is_symmetric_and_never_negative(n, a, b):
    a, b, n = float(min(a, n)), float(min(b, n)), float(n)
    value = information._expected_cell(a, b, n)
    assert value >= 0
    assert value == pytest.approx(information._expected_cell(b, a, n), rel=1e-14, abs=0)


def test_expected_cell_of_two_singletons_is_one_chance_in_n():
    for n in (1, 2, 300, 3_000_000):
        # P(x = 1) = 1/n, and then the cell holds 1/n log(n · 1 / (1 · 1)).
        expected = math.log(n) / n**2
        assert information._expected_cell(1.0, 1.0, float(n)) == pytest.approx(expected, rel=1e-13, abs=1e-300)


@cache
def log_factorial(m):
    """Stirling's series in decimals: from 200 on, the first term left out is below 1e-23."""
    if m < 200:
        return Decimal(math.factorial(m)).ln()
    m = Decimal(m)
    two_pi = 2 * Decimal("3.14159265358979323846264338327950288419716939937511")
    return (
        m * m.ln() - m + (two_pi * m).ln() / 2 + 1 / (12 * m) - 1 / (360 * m**3) + 1 / (1260 * m**5) - 1 / (1680 * m**7)
    )


def expected_cell_in_decimals(a, b, n):
    """The definition, in 40 digits, over fifteen standard deviations on either side of the mean."""
    with localcontext(prec=40):
        mean, sd = a * b // n, math.isqrt(a * b // n * (n - a) // n * (n - b) // n) + 2
        first, last = max(0, a + b - n, mean - 15 * sd - 20), min(a, b, mean + 15 * sd + 20)
        constant = sum(map(log_factorial, (a, b, n - a, n - b))) - log_factorial(n)
        total = probability = Decimal(0)
        for x in range(first, last + 1):
            p = (constant - sum(map(log_factorial, (x, a - x, b - x, n - a - b + x)))).exp()
            probability += p
            if x:
                total += p * x / n * (Decimal(n * x) / (a * b)).ln()
        assert abs(probability - 1) < Decimal("1e-20")  # nothing of weight lies outside
        return float(total)


N = 3_000_000


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, N // 2),
        (2, 3),
        (50, 400),
        (1_000, 1_000),
        (3_000, 40_000),
        (3_000, N // 2),
        (N - 1, N - 1),
        (N - 50, N - 70_000),
        (N - 3_000, 40_000),
    ],
)
def test_expected_cell_is_right_at_three_million_points(a, b):
    computed = information._expected_cell(float(a), float(b), float(N))
    # Not relative alone: between two blocks of nearly all points next to nothing is left of terms that nearly cancel.
    assert computed == pytest.approx(expected_cell_in_decimals(a, b, N), rel=1e-14, abs=1e-22)


@pytest.mark.parametrize(("a", "b", "n"), [(900, 1_000, 3_000), (2_500, 2_900, 3_000), (40, 2_000, 3_000)])
def test_expected_cell_stops_where_nothing_is_left_to_add(a, b, n):
    # Long tails: most of the support is never visited.
    interpreted = information._expected_cell.py_func(float(a), float(b), float(n))
    compiled = information._expected_cell(float(a), float(b), float(n))
    assert interpreted == pytest.approx(compiled, rel=1e-14, abs=0)
    assert interpreted == pytest.approx(expected_cell_in_decimals(a, b, n), rel=1e-13, abs=0)


def test_equal_sizes_taken_together_are_the_sum_over_all_pairs():
    rows, columns = [2, 5, 2, 1, 1, 1, 0, 8], [4, 4, 4, 0, 8]
    total = sum(information._expected_cell(float(a), float(b), 20.0) for a in rows if a for b in columns if b)
    args = np.array([rows], dtype=float), np.array([columns], dtype=float), np.array([20.0])
    assert information.expected_mutual_information(*args)[0] == pytest.approx(total, rel=1e-14, abs=0)


@pytest.mark.parametrize("n", [1_000, 300_000])
def test_sums_over_many_blocks_do_not_drift(n):
    # n equal terms, added one after the other, err by thousands of units in the last place; an adjusted score then
    # divides that by what entropy and expectation differ by, which is of the order of 1/n.
    counts = Counts.from_codes(np.arange(n), np.arange(n))
    margins = counts.row_of_cell, counts.column_of_cell, counts.rows, counts.columns, counts.totals
    expected = pytest.approx(math.log(n), rel=1e-14, abs=0)
    assert information.expected_mutual_information(counts.rows, counts.columns, counts.totals)[0] == expected
    assert information.entropy(counts.rows, counts.totals)[0] == expected
    assert information.mutual_information(counts.cells, *margins)[0] == expected


def test_kernels_are_compiled_where_nothing_can_be_kept_on_disk(monkeypatch):
    def njit_without_a_place(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(compiled, "njit", njit_without_a_place)
    assert compiled.compiled(lambda x: x + 1)(2) == 3
