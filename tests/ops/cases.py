# SPDX-License-Identifier: Apache-2.0
"""Every case of the op tables, by name."""

from itertools import chain

from tests.ops import convolution, elementwise, movement, pattern, pooling, reduction, refused
from tests.ops.case import Case

_TABLES = (convolution, elementwise, pooling, reduction, movement, pattern, refused)


def _by_name(cases: list[Case]) -> dict[str, Case]:
    table = {case.name: case for case in cases}
    assert len(table) == len(cases), "two cases have one name"
    strange = [name for name in table if not name.isidentifier()]
    assert not strange, f"names become names of targets and of C: {strange}"
    return table


CASES = _by_name(list(chain.from_iterable(table.cases() for table in _TABLES)))
LOWERED = {name: case for name, case in CASES.items() if not case.refused}
REFUSED = {name: case for name, case in CASES.items() if case.refused}
