# SPDX-License-Identifier: Apache-2.0
"""What has no int8 form is refused, and the message says what and where."""

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
