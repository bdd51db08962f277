# SPDX-License-Identifier: Apache-2.0
"""One random graph on one NPU: TOSA's reference model against Vela's compiled result, executed."""

from __future__ import annotations

from dataclasses import dataclass

from aot.backends.ethos_u.forms import FormError, check_forms
from aot.backends.ethos_u.vela import VelaError, compile_tosa
from aot.backends.npus import NPUS
from npu.ethos_u.fillers import all_inputs
from npu.ethos_u.npu_model import EthosUError, EthosUModel
from tests.ethos_u.corpus.reference import differing_elements, reference_outputs, signatures
from tests.ethos_u.random.graphs import random_graph
from tools.text.printed import captured


@dataclass(frozen=True)
class Trial:
    """Outcome of a graph.

    Attributes:
      steps: steps of the graph, for people.
      refused: reason for no Vela run: Vela's own error, or with `form` a form avoided by
        emitters.
      form: True if it has a form known to be miscompiled by Vela.
      wrong: difference from the reference, "" if there is none.
    """

    steps: str
    refused: str = ""
    form: bool = False
    wrong: str = ""


def trial(seed: int, configuration: str) -> Trial:
    """Compile a graph, and runs it on every kind of inputs."""
    npu = NPUS[configuration]
    tosa, steps = random_graph(seed, npu)
    form = ""
    try:
        check_forms(tosa, npu)
    except FormError as error:
        form = str(error)
    try:
        payload = compile_tosa(tosa, npu).payload
    except VelaError as error:
        return Trial(steps, str(error))
    return Trial(steps, form, bool(form), _wrong(tosa, payload, configuration))


def _wrong(tosa: bytes, payload: bytes, configuration: str) -> str:
    model = EthosUModel(configuration, check_hazards=True)
    for kind, inputs in all_inputs([(s.shape, s.dtype) for s in signatures(tosa)]):
        with captured():
            expected = reference_outputs(tosa, inputs)
        try:
            outputs = model.run(payload, inputs)
        except EthosUError as error:
            return f"the model refuses it: {error}"
        if differing_elements(outputs, expected):
            return f"other results on inputs {kind}"
    return ""
