# SPDX-License-Identifier: Apache-2.0
"""Access maps, alias distances and in-place pairs against what the C code touches on the host.

No call reads or writes a byte beyond its access map, and calls reach the end of each operand. No
call writes a byte of an aliased input before it is read.
"""

from collections.abc import Iterator, Mapping

import pytest

from kernels.accesses import accesses
from kernels.common.access import extents
from kernels.common.kernel import KernelCall, Value
from kernels.testing.folders import folders
from kernels.testing.random_calls.cases import cases as random_cases
from kernels.testing.touched.touched import (
    SCRATCH,
    Given,
    Touched,
    Tracer,
    given_calls,
    operands,
    size_of,
)

_OF_EACH = 12
"""Calls of a function from the cases of its folder."""

_MOST_BYTES = 20000

_PARTS = 3
"""Random calls run in this many tests."""

ONLY_ON_CORES = (
    *("blocks_s8", "pairs_s8", "few_s8", "few_wide_s8", "two_s8", "by_4_s8", "windows_s8"),
    *("planes_s8", "planes_lowest_s8", "planes_2_s8", "planes_2_lowest_s8", "planes_3_s8"),
    *("planes_3_lowest_s8", "columns_s8", "direct_s8", "vectors_s8", "whole_s8", "down_s8"),
    *("down_s16", "flat_s8", "short_s8", "pool2d_rows_s8", "softmax_rows_s8", "steps_rows_s8"),
    *("taps_s8", "digits_s8", "lines_s8", "sliding_s8", "sliding_2_s8", "sliding_signed_s8"),
    "sliding_2_signed_s8",
)
"""Ends of names of functions in assembly or vectors, which no host runs. Their maps are compared
with the operands of all cases (aot/slot/test_bounds.py), and their calls run between guards on
boards (kernels/testing/random_calls).
"""

Run = tuple[Given, Touched]


def _is_small(given: Given) -> bool:
    sizes = map(size_of, operands(given.kernel).values())
    return sum(sizes) + given.kernel.scratch < _MOST_BYTES


def _calls() -> Iterator[Given]:
    """Yield some calls of each function, and random calls."""
    for folder in folders():
        taken: dict[str, int] = {}
        for case in folder.cases():
            for given in given_calls(case):
                count = taken.get(given.kernel.function, 0)
                if count < _OF_EACH and _is_small(given):
                    taken[given.kernel.function] = count + 1
                    yield given
    for part in range(_PARTS):
        for case in random_cases(part):
            yield from filter(_is_small, given_calls(case))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    calls = list(_calls())
    touched = Tracer(tmp_path_factory.mktemp("touched")).run(calls)
    return [*zip(calls, touched, strict=True)]


def _mapped(call: KernelCall) -> Mapping[str, int]:
    """Return the bytes of each operand by the access map; the larger of two names of one."""
    access = accesses()[call.function]
    found = {name: end for name, (end, _) in extents(access, call, "scalar").items()}
    for _, names in access.pairs_of_factors():
        end = found.pop(" and ".join(names))
        given = [name for name in names if call.data.get(name) is not None]
        found |= dict.fromkeys(given, end // len(given))
    for name, table in access.tables.items():
        found[name] = found[name] * 4 * len(table.fields)
    of = operands(call)
    return {
        name: max(end for other, end in found.items() if of.get(other) is of.get(name))
        for name, end in found.items()
    }


def test_no_call_touches_a_byte_beyond_its_map(runs: list[Run]) -> None:
    beyond = set()
    for given, touched in runs:
        call, mapped = given.kernel, _mapped(given.kernel)
        for kind, bounds in (("reads", touched.reads), ("writes", touched.writes)):
            for name, (first, end) in bounds.items():
                if first < 0 or end > mapped.get(name, 0):
                    beyond.add(f"{call.function} {kind} {first} to {end} of {name}: {call.dims}")
    assert beyond == set()


def test_outputs_are_written_to_their_ends_and_nothing_else_is(runs: list[Run]) -> None:
    wrong = set()
    for given, touched in runs:
        function, mapped = given.kernel.function, _mapped(given.kernel)
        outputs = {name: mapped[name] for name in accesses()[function].writes}
        for name, (_, end) in touched.writes.items():
            if name != SCRATCH and end != outputs.get(name, 0):
                wrong.add(f"{function} writes {end} of {name}: {given.kernel.dims}")
    assert wrong == set()


def test_every_map_is_tight(runs: list[Run]) -> None:
    """The last byte of an activation is read. Tables of a function depend on its values."""
    reached, named = set(), set()
    for given, touched in runs:
        of = operands(given.kernel)
        for name, end in _mapped(given.kernel).items():
            operand = of.get(name)
            if name in touched.reads and isinstance(operand, Value) and operand.constant is None:
                named.add((given.kernel.function, name))
                if end == max(touched.reads[name][1], touched.writes[name][1]):
                    reached.add((given.kernel.function, name))
    assert len(named) > 300
    assert named - reached == set()


def test_no_input_is_overwritten_too_early(runs: list[Run]) -> None:
    count, wrong = 0, set()
    for given, touched in runs:
        call = given.kernel
        names = {o.name: n for n, o in operands(call).items() if isinstance(o, Value)}
        for over in call.overlap:
            pair = names.get(over.source, ""), names.get(over.result, "")
            if pair in touched.unsafe:
                count += 1
                if touched.unsafe[pair][0] >= over.distance:
                    wrong.add(f"{call.function}, {pair} by {over.distance}: {call.dims}")
        for source, result in call.in_place:
            pair = names.get(source, ""), names.get(result, "")
            if pair in touched.unsafe:
                count += 1
                if touched.unsafe[pair][1]:
                    wrong.add(f"{call.function}, {pair} in place: {call.dims}")
    assert count > 500
    assert wrong == set()


def test_every_function_of_the_host_is_run(runs: list[Run]) -> None:
    seen = {given.kernel.function for given, _ in runs}
    assert {f for f in set(accesses()) - seen if not f.endswith(ONLY_ON_CORES)} == set()
