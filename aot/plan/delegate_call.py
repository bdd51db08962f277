# SPDX-License-Identifier: Apache-2.0
"""Delegate calls in a program. Their operator is "delegate::" followed by the backend's id."""

from aot.pte.reader import StoredDelegate
from kernels.common.kernel import OpCall, Value


def delegate_of(call: OpCall) -> StoredDelegate | None:
    """Return the delegate of a call; None for another operator."""
    delegate = call.args.get("delegate")
    return delegate if isinstance(delegate, StoredDelegate) else None


def delegate_op_call(
    delegate: StoredDelegate,
    inputs: tuple[Value, ...],
    outputs: tuple[Value, ...],
    op_id: str = "",
    module: str = "",
) -> OpCall:
    args = {"inputs": list(inputs), "delegate": delegate}
    return OpCall(f"delegate::{delegate.backend}", args, outputs, op_id, module)
