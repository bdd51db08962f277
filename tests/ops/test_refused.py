# SPDX-License-Identifier: Apache-2.0
"""Programs without an int8 form are refused, and the message gives the op and its place."""

import pytest

from aot.errors import LoweringError
from aot.lower import lower
from tests.ops.case import Case, build, calibration
from tests.ops.refused import cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_refuses(case: Case) -> None:
    samples = calibration(case)
    with pytest.raises(LoweringError, match=case.refused):
        lower(build(case), samples[0], calibration=samples)
