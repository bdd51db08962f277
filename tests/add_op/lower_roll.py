# SPDX-License-Identifier: Apache-2.0
"""Lowers the example of pl::roll, and the same between two convolutions; prints what became of each
as JSON: how many of each dialect op, and the largest difference from torchao's graph.

Run by test_add_op.py in a tree that has the op.
"""

import json

from torch import nn

from aot.lower import lower
from aot.testing.fixtures import op_counts
from aot.testing.lockstep import compare
from tests.ops.case import Case, Input, build, calibration, held_out
from tests.ops.elementwise import cases


def result(case: Case) -> dict[str, object]:
    samples = calibration(case)
    lowered = lower(build(case), samples[0], calibration=samples)
    differences = compare(lowered, held_out(case)).by_op
    return {"ops": op_counts(lowered.module), "largest": differences["roll"].largest}


def main() -> None:
    (alone,) = (case for case in cases() if case.name.startswith("roll"))

    def between() -> nn.Module:
        return nn.Sequential(nn.Conv2d(3, 4, 3), build(alone), nn.Conv2d(4, 2, 3))

    inside = Case("between convolutions", between, (Input((1, 3, 8, 8), channels_last=True),), {})
    print(json.dumps({"alone": result(alone), "between convolutions": result(inside)}))


if __name__ == "__main__":
    main()
