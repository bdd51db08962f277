# SPDX-License-Identifier: Apache-2.0
"""What a .pte that was lowered elsewhere takes of an Ethos-U, for the table of `.sim`: it has no
lowering report, but its delegates' programs say what the NPU does.

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
    """Of a .pte, {} if it has nothing for an Ethos-U, or is beyond a plan, which says so itself.

    Returns:
      cycles: by the NPU's model, None if there is no model of its NPU, `npu`.
      left: how many instructions the core runs.
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
