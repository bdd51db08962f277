# SPDX-License-Identifier: Apache-2.0
"""Reader of a .pte from ExecuTorch's own Arm backend: Ethos-U delegates, and ops on the CPU.

It contains less than Pilotlight's. A delegate's needs are in the payload and in the backend's flags
for Vela. Inputs and outputs are plain tensors; int8 ones have no scale. Conversions between float
and int8 are ops of `quantized_decomposed`; here they become the dialect's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aot.plan.views import views_of
from aot.pte import schema
from aot.pte.conventions import (
    DTYPE_NAMES,
    FORMAT_VERSION_METHOD,
    FORWARD,
    Border,
    Needs,
    PteError,
)
from aot.pte.reader import (
    PteContents,
    StoredDelegate,
    buffers,
    check_container,
    check_segments,
    item_at,
    payload_of,
    read_pte,
    read_tables,
)
from kernels.common.tensor import DTYPES
from npu.ethos_u.payload import PayloadError, parse_payload

_BACKEND = "EthosUBackend"
_FLAGS = "compile_flags"
_FORMAT = "output_format"
_ALIGNMENT = 16
_BITS = {1: 8, 2: 16}
"""Bits by PyTorch's number of a dtype."""

_BORDER_ARGUMENTS = 6  # the tensor, scale, zero point, both limits, dtype
_BORDERS = {
    "quantized_decomposed::quantize_per_tensor": "pl::quantize",
    "quantized_decomposed::dequantize_per_tensor": "pl::dequantize",
}


def read_artefact(data: bytes) -> PteContents:
    """Return the contents of a .pte written by Pilotlight or by the Arm backend.

    Raise PteError if it is neither, or is damaged.
    """
    check_container(data)
    try:
        program = read_tables(data)
    except PteError:
        return read_pte(data)  # raises the error
    methods = {plan.name: plan for plan in program.execution_plan}
    forward = methods.get(FORWARD)
    if forward is None or FORMAT_VERSION_METHOD in methods or not _is_foreign(forward.delegates):
        return read_pte(data)
    check_segments(program)
    instructions = [i for chain in forward.chains for i in chain.instructions]
    values = forward.values
    delegates = tuple(_delegate(data, program, i, d) for i, d in enumerate(forward.delegates))
    _check_calls(forward, delegates)
    return PteContents(
        forward,
        buffers(data, program, program.constant_segment),
        buffers(data, program, next(iter(program.mutable_data_segments), None)),
        delegates,
        tuple(_border(values, index, f"input {i}") for i, index in enumerate(forward.inputs)),
        tuple(_border(values, index, f"output {i}") for i, index in enumerate(forward.outputs)),
        ("",) * len(instructions),
        views_of(forward, [len(parse_payload(d.payload).inputs) for d in delegates]),
    )


def _is_foreign(delegates: Sequence[schema.BackendDelegate]) -> bool:
    """Return True if all delegates are of an Arm backend, and at least one is for an Ethos-U."""
    keys = [{spec.key for spec in delegate.compile_specs} for delegate in delegates]
    return any(d.id == _BACKEND for d in delegates) and all(_FLAGS in k for k in keys)


def _border(values: Sequence[schema.EValue], index: int, what: str) -> Border:
    value = item_at(values, index, f"{what}: value").val
    if not isinstance(value, schema.Tensor):
        raise PteError(f"has {type(value).__name__} as {what}; a plan takes tensors only")
    return Border(0.0, 0, "row_major")


def _delegate(
    data: bytes, program: schema.Program, index: int, delegate: schema.BackendDelegate
) -> StoredDelegate:
    where = f"delegate {index} ({delegate.id})"
    if delegate.id != _BACKEND:
        raise PteError(
            f"{where} is for another backend; of ExecuTorch's delegates, only Ethos-U's are "
            "supported"
        )
    specs = {
        spec.key: bytes(spec.value).decode("utf-8", "replace") for spec in delegate.compile_specs
    }
    if specs.get(_FORMAT) != "vela":
        raise PteError(
            f"{where} holds the format {specs.get(_FORMAT)!r}; it must be a program compiled by "
            "Vela"
        )
    found = re.search(r"--accelerator-config=([\w-]+)", specs[_FLAGS])
    if found is None:
        raise PteError(
            f"{where}: its compile flags lack --accelerator-config, so the NPU is unknown"
        )
    payload = payload_of(data, program, delegate.processed)
    try:
        scratch = parse_payload(payload).scratch_size
    except PayloadError as error:
        raise PteError(f"{where}: its payload is damaged: {error}") from error
    cache = cache_bytes(specs[_FLAGS], where)
    try:
        needs = Needs(found[1], scratch, _ALIGNMENT, cache)
    except ValueError as error:
        raise PteError(f"{where}: its payload is damaged: {error}") from error
    return StoredDelegate(_BACKEND, payload, needs)


def cache_bytes(flags: str, where: str) -> int:
    """Return the cache size from the memory mode or the cache size flag; 0 without a cache."""
    mode = re.search(r"--memory-mode=Dedicated_Sram(?:_(\d+)KB)?(?!\w)", flags)
    given = re.search(r"--arena-cache-size=(\d+)", flags)
    if mode is None:
        return 0
    if given is None and mode[1] is None:
        raise PteError(
            f"{where} does not state the size of its cache: lower it with --arena-cache-size, or "
            "with a memory mode that has the size in its name, such as Dedicated_Sram_384KB"
        )
    return int(given[1]) if given else int(mode[1]) << 10


def _check_calls(forward: schema.ExecutionPlan, delegates: Sequence[StoredDelegate]) -> None:
    """Raise PteError for a call whose tensors differ from its payload's."""
    calls = [i.instr_args for chain in forward.chains for i in chain.instructions]
    for position, call in enumerate(calls):
        if not isinstance(call, schema.DelegateCall):
            continue
        where = f"instruction {position} (delegate {call.delegate_index})"
        delegate = item_at(delegates, call.delegate_index, where)
        payload = parse_payload(delegate.payload)
        wanted = [tensor.bytes for tensor in (*payload.inputs, *payload.outputs)]
        given = [_bytes(forward.values, index, where) for index in call.args]
        if given != wanted:
            raise PteError(f"{where} has tensors of {given} bytes, but its payload has {wanted}")


def _bytes(values: Sequence[schema.EValue], index: int, where: str) -> int:
    value = item_at(values, index, f"{where}: value").val
    if not isinstance(value, schema.Tensor) or value.scalar_type not in DTYPE_NAMES:
        raise PteError(f"{where}: value {index} must be a tensor of {', '.join(DTYPES)}")
    return math.prod(value.sizes) * DTYPES[DTYPE_NAMES[value.scalar_type]].bytes


def border_arguments(
    name: str, args: Sequence[Any], where: str
) -> tuple[str, Mapping[str, Any]] | None:
    """Return the dialect op for ExecuTorch's conversion between float and int8 or int16.

    Its arguments, without the input, are returned, too.

    Args:
      name: of the operator.
      args: values of its arguments, in the order of its schema; tensors may be anything.

    Returns:
      None for all other operators.

    Raises:
      PteError: a range unsupported by the dialect.
    """
    if name not in _BORDERS:
        return None
    if len(args) < _BORDER_ARGUMENTS or None in args[1:5]:
        raise PteError(f"is damaged: {where} ({name}) has wrong arguments: {list(args)}")
    _, scale, zero_point, low, high, dtype, *_ = args
    bits = _BITS.get(dtype, 0)
    if (low, high) != (-(1 << bits - 1), (1 << bits - 1) - 1) if bits else True:
        raise PteError(
            f"{where} clamps to {low} … {high}, and must use all values of int8 or int16: set the "
            "quantizer's range of activations (QuantizationSpec(quant_min=-32768, ...) for "
            "int16), or lower the model here in int16"
        )
    op, given = _BORDERS[name], {"scale": float(scale), "zero_point": int(zero_point)}
    return op, given | ({"bits": bits} if op == "pl::quantize" else {})
