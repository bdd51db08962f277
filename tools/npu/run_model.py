# SPDX-License-Identifier: Apache-2.0
"""Runs a whole .pte: its Ethos-U delegates in the NPU model, all else by the ops' references.

bazel run //tools/npu:run_model -- FILE.pte --inputs=x.npy --outputs=DIR
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

from collections.abc import Mapping
from pathlib import Path
from typing import Any

with imports_that_stay():
    import numpy as np
    import torch
    from absl import app, flags

    from aot.plan.delegate_call import delegate_of
    from aot.plan.program import PlanProgram
    from aot.plan.pte import read_program
    from aot.pte.conventions import PteError
    from kernels.common.kernel import OpCall, Value
    from npu.ethos_u.fillers import Array
    from npu.ethos_u.npu_model import EthosUError, EthosUModel, configuration_of
    from npu.ethos_u.payload import PayloadError, parse_payload
    from tools.npu.paths import user_path
    from tools.text.table import table

_INPUTS = flags.DEFINE_list("inputs", [], ".npy files, one an input.")
_OUTPUTS = flags.DEFINE_string("outputs", None, "Folder for output_0.npy and so on.")

_BACKEND = "EthosUBackend"


def run_program(
    program: PlanProgram, inputs: list[Array]
) -> tuple[list[Array], list[list[object]]]:
    """Return the outputs, and a row for each delegate: its instruction, NPU, cycles and MACs from
    the model.

    Raises:
      ValueError: wrong inputs for the program, or an op without a reference; EthosUError
        and PayloadError for delegates.
    """
    ports = [port.value for port in program.inputs]
    if [(v.dtype, v.size) for v in ports] != [(x.dtype.name, x.size) for x in inputs]:
        raise ValueError(
            f"the model takes {', '.join(f'{v.dtype} {list(v.shape)}' for v in ports)}, not "
            f"{', '.join(f'{x.dtype} {list(x.shape)}' for x in inputs) or 'nothing'}"
        )
    values = {
        v.name: torch.from_numpy(x.reshape(v.shape)) for v, x in zip(ports, inputs, strict=True)
    }
    values |= {s.value.name: torch.from_numpy(s.initial.copy()) for s in program.states}
    rows: list[list[object]] = []
    for call in program.calls:
        if (delegate := delegate_of(call)) is None:
            _run_op(call, values)
            continue
        if delegate.backend != _BACKEND:
            raise call.error(f"there is no model of the engine of {delegate.backend}")
        model = EthosUModel(configuration_of(parse_payload(delegate.payload)), check_hazards=True)
        given = [_integers(_of(v, values)) for v in call.tensors("inputs")]
        results = model.run(delegate.payload, given)
        for value, result in zip(call.outputs, results, strict=True):
            whole = torch.from_numpy(result.reshape(value.shape))
            values[value.name] = whole.to(getattr(torch, value.dtype))
        assert model.summary is not None
        counts = model.summary.counts
        rows.append([call.id, delegate.needs.configuration, counts.cycles or "-", counts.macs])
    return [values[port.value.name].numpy() for port in program.outputs], rows


def _integers(value: torch.Tensor) -> Array:
    """Return a delegate's input; masks are 0 and 1."""
    return (value.to(torch.int8) if value.dtype is torch.bool else value).numpy()


def _of(value: Any, values: Mapping[str, torch.Tensor]) -> Any:
    """Return an argument with arrays in the place of values."""
    if isinstance(value, list):
        return [_of(v, values) for v in value]
    if not isinstance(value, Value):
        return value
    return values[value.name] if value.constant is None else torch.from_numpy(value.constant)


def _run_op(call: OpCall, values: dict[str, torch.Tensor]) -> None:
    namespace, _, name = call.op.partition("::")
    name, _, overload = name.partition(".")
    packet = getattr(getattr(torch.ops, namespace), name)
    given = {name: _of(value, values) for name, value in call.args.items()}
    if namespace == "pl":
        results = packet.default(**given)
    else:
        places = {a.name: None for a in getattr(packet, overload)._schema.arguments if a.is_out}
        empty = (torch.empty(v.shape, dtype=getattr(torch, v.dtype)) for v in call.outputs)
        results = getattr(packet, overload)(**given, **dict(zip(places, empty, strict=True)))
    for value, result in zip(
        call.outputs, results if isinstance(results, tuple | list) else [results], strict=True
    ):
        values[value.name] = result.contiguous()


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("give one .pte")
    try:
        program = read_program(user_path(argv[1]).read_bytes())
        inputs = [np.load(user_path(name), allow_pickle=False) for name in _INPUTS.value]
        outputs, rows = run_program(program, inputs)
    except (EthosUError, OSError, PayloadError, PteError, ValueError) as error:
        raise SystemExit(f"run_model: {argv[1]} {error}") from error
    for index, output in enumerate(outputs):
        print(f"output {index}: {output.dtype} {'x'.join(str(size) for size in output.shape)}")
        if _OUTPUTS.value is not None:
            folder = Path(user_path(_OUTPUTS.value))
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"output_{index}.npy", output)
    print(table([["instruction", "NPU", "cycles", "MACs"], *rows], "rlrr"))


if __name__ == "__main__":
    run_main(main)
