# SPDX-License-Identifier: Apache-2.0
"""The proof of a region: dialect, TOSA's reference model and functional model agree."""

from __future__ import annotations

from torch.fx import GraphModule

from aot.backends.ethos_u.choose import Candidate, compiled
from aot.backends.ethos_u.emit import Choice, adopt, emitted, matching, reject
from aot.backends.ethos_u.forms import check_forms
from aot.backends.ethos_u.vela import compile_tosa
from aot.backends.ethos_u.verify import verify
from aot.backends.npus import NPUS
from aot.dialect.graph import dialect_op


def prove_form(region: GraphModule, form: str, configuration: str) -> Candidate:
    """Run a region with one of its equal forms. Return the candidate.

    Raises:
      ValueError: no op has the form.
      FormError, VelaError, NpuVerificationError: as `prove`.
    """
    npu = NPUS[configuration]
    adopt(region)
    names = matching(region, npu).get(form, [])
    if not names:
        raise ValueError(f"no op of the region has the form {form}")
    found = compiled(region, npu, Choice(forms=dict.fromkeys(names, form)), check=True)
    verify(region, found.graph.tosa, found.program.payload, npu)
    return found


def prove(region: GraphModule, configuration: str) -> bool:
    """Run a region on an NPU's model. Return False if the NPU cannot run one of its ops.

    Raises:
      FormError: it is emitted in a form that Vela compiles wrongly.
      VelaError: Vela does not compile the emitted graph.
      NpuVerificationError: the results differ.
    """
    npu = NPUS[configuration]
    if any(reject(node, npu) for node in region.graph.nodes if dialect_op(node)):
        return False
    adopt(region)
    for near in {False, npu.keeps_inputs_far}:
        tosa = emitted(region, npu, Choice(near, limits=not npu.is_u85)).tosa
        check_forms(tosa, npu)
        verify(region, tosa, compile_tosa(tosa, npu).payload, npu)
    return True
