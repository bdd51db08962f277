# SPDX-License-Identifier: Apache-2.0
"""NPU use of a .pte lowered by other tools, for the table of `.sim`. Such a file has no lowering
report; the figures come from its delegates' programs.

npu_estimate model.pte output.json
"""

import json
import sys
from pathlib import Path
from typing import Any

from aot.plan.delegate_call import delegate_of
from aot.plan.pte import read_program
from aot.pte.conventions import PteError
from npu.ethos_u.npu_model import CONFIGS, EthosUError, EthosUModel
from npu.ethos_u.payload import PayloadError

_BACKEND = "EthosUBackend"


def estimate(data: bytes) -> dict[str, Any]:
    """Return the NPU figures of a .pte. The result is {} without an Ethos-U delegate, or if
    planning cannot read the file (planning reports that itself).

    Returns:
      cycles: from the NPU model, None if there is no model of its NPU, `npu`.
      left: number of instructions on the core.
    """
    try:
        delegates = [delegate_of(call) for call in read_program(data).calls]
    except PteError:
        return {}
    on_npu = [d for d in delegates if d is not None and d.backend == _BACKEND]
    if not on_npu:
        return {}
    npu = on_npu[0].needs.configuration
    cycles = None
    if npu in CONFIGS:
        model = EthosUModel(npu)
        cycles = sum(model.inspect(d.payload).counts.cycles for d in on_npu)
    return {"npu": npu, "cycles": cycles, "left": delegates.count(None)}


def main(argv: list[str]) -> None:
    pte, output = map(Path, argv[1:])
    try:
        told = estimate(pte.read_bytes())
    except (EthosUError, PayloadError) as error:
        raise SystemExit(f"{pte}: {error}") from error
    output.write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv)
