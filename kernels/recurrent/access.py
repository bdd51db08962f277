# SPDX-License-Identifier: Apache-2.0
"""Access maps of recurrent layers: memory read and written by a call."""

from kernels.common.access import ANY, LONG, Access, Extent
from kernels.common.access_forms import sizes

_GATES = {"gru": 3, "lstm": 4, "rnn": 1}

# The first step of the first batch, and its last one, which comes first in a reversed sequence.
_LAST = "first_row + (steps - 1) * row_step"
_ROWS = f"((first_row if row_step <= 0 else {_LAST}) + (batches - 1) * batch_step + 1)"
_STATE = Extent("batches * hidden_size", 2)


def _recurrent(op: str, size: int) -> Access:
    """Return the access map for elements with this many bytes in input and output."""
    gates = _GATES[op]
    cell = {"cell": _STATE} if op == "lstm" else {}
    return Access(
        "kernels/recurrent/recurrent.h",
        {
            **sizes("steps batches input_size hidden_size"),
            "first_row": (0, LONG),
            "row_step": ANY,
            "batch_step": (1, LONG),
        },
        {
            "input": Extent(f"{_ROWS} * input_size", size),
            "hidden": _STATE,
            **cell,
            "weight": Extent(f"hidden_size * input_size * {gates}"),
            "bias": Extent(f"hidden_size * {gates}", 4),
            "hidden_weight": Extent(f"hidden_size * hidden_size * {gates}"),
            **({"hidden_bias": Extent("hidden_size", 4)} if op == "gru" else {}),
            "table": Extent("385", 2),
        },
        {
            "output": Extent(f"{_ROWS} * hidden_size", size),
            "last_hidden": _STATE,
            **({"last_cell": _STATE} if op == "lstm" else {}),
        },
        {"hidden_bits": (0, 15), "cell_bits": (0, 15), "cell_limit": (0, 2**16 - 1)},
        factors=f"hidden_size * {gates}",
        hidden_factors=f"hidden_size * {gates}",
        scratch="2 * hidden_size if steps > 1 else 0",
        needs=(f"{_LAST} >= 0",),
        revision=2,
    )


ACCESS: dict[str, Access] = {
    f"pl_{op}_s{8 * size}": _recurrent(op, size) for op in _GATES for size in (1, 2)
}
