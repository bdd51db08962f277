# SPDX-License-Identifier: Apache-2.0
"""Delegate calls: steps that run on an engine of the board or of the app.

The step is a kernel call like others, with the struct of firmware/runtime/delegate.h. Its inputs
and outputs are aligned for the payload, and lie in memories within the engine's reach.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from aot.pte.reader import StoredDelegate
from boards.board import Board, Engine
from kernels.common.kernel import Array, Constant, Field, KernelCall, OpCall, Symbol, Value

STEP = "pl_delegate_step"
ENGINES = Symbol("pl_plan_engines")
"""Place of the app's engines in the runtime: a pl_engines of the plan's file."""


def delegate_kernel(call: OpCall, delegate: StoredDelegate) -> KernelCall:
    """Return the kernel call that finds and runs the engine."""
    payload = np.frombuffer(delegate.payload, np.int8)
    alignment = max(4, delegate.needs.alignment)
    inputs = [
        v if v.constant is None else Constant(v.constant, alignment) for v in call.tensors("inputs")
    ]
    data: dict[str, Field] = {
        "backend": delegate.backend,
        "configuration": delegate.needs.configuration,
        "payload": Constant(payload, alignment),
        "payload_bytes": payload.nbytes,
        "inputs": _buffers("pl_delegate_input", inputs),
        "outputs": _buffers("pl_delegate_output", call.outputs),
        "input_count": len(inputs),
        "output_count": len(call.outputs),
        "engines": ENGINES,
    }
    header = "firmware/runtime/delegate.h"
    return KernelCall(STEP, header, {}, {}, data, delegate.needs.scratch_bytes)


def _buffers(element_type: str, values: Iterable[Value | Constant]) -> Array:
    def size(value: Value | Constant) -> int:
        return value.bytes if isinstance(value, Value) else value.array.nbytes

    return Array(f"const {element_type}", tuple({"data": v, "bytes": size(v)} for v in values))


@dataclass(frozen=True)
class DelegatePlaces:
    """Pools for the memory blocks of a delegate."""

    tensors: frozenset[str]
    scratch: frozenset[str]


def places(call: OpCall, delegate: StoredDelegate, board: Board) -> DelegatePlaces:
    """Return the pools that the engine of a delegate can access.

    Raise KernelError if it reaches none, or if there is no such engine.
    """
    engine = _engine(call, delegate, board)
    call.require(
        not engine.configuration or delegate.needs.cache_bytes <= engine.cache_bytes,
        f"its payload is made for a cache of {delegate.needs.cache_bytes} bytes, its engine on the "
        f"board {board.name} has {engine.cache_bytes}",
    )
    pools = frozenset(pool.name for pool in board.arena)
    if not engine.memories:
        return DelegatePlaces(pools, pools)
    reached = ", ".join(engine.memories)
    call.require(
        board.weights in engine.memories,
        f"its payload would lie in {board.weights}, the board {board.name}'s memory for `weights`, "
        f"but its engine reaches {reached} only",
    )
    tensors = pools & frozenset(engine.memories)
    scratch = tensors & {engine.scratch} if engine.scratch else tensors
    call.require(
        bool(tensors) and bool(scratch),
        f"its engine on the board {board.name} reaches {reached}, with scratch memory in "
        f"{engine.scratch or 'any of them'}, but the board's `arena` is {', '.join(sorted(pools))}",
    )
    return DelegatePlaces(tensors, scratch)


def _engine(call: OpCall, delegate: StoredDelegate, board: Board) -> Engine:
    of_backend = [engine for engine in board.engines if engine.backend == delegate.backend]
    wanted = delegate.needs.configuration
    for engine in of_backend:
        if wanted in ("", engine.configuration) or not engine.configuration:
            return engine
    if of_backend:
        found = ", ".join(engine.configuration for engine in of_backend)
        raise call.error(
            f"its payload is for {wanted}, but the board {board.name} has {found}: lower the model "
            "for this board"
        )
    found = ", ".join(sorted({engine.backend for engine in board.engines})) or "none"
    raise call.error(
        f"the board {board.name} has no engine for {delegate.backend} (it has: {found}): lower the "
        "model for another target, or name the backend in `engines` of the plan_library if the app "
        "brings an engine"
    )
