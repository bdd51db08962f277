# SPDX-License-Identifier: Apache-2.0
"""Model inputs and expected outputs as C (firmware/apps/vectors.h).

They come in an .npz with arrays `input_<i>` and `output_<i>`, one for each input and output of the
model. Their shape is [vectors, ...], followed by the model's shape in memory order. A test set also
has `labels` [vectors], the right classes.
"""

from typing import Any

import numpy.typing as npt

from kernels.common import emit

Arrays = dict[str, npt.NDArray[Any]]

_NPU = "delegate::EthosUBackend"
_INIT_WITH_NPU = """
#include "firmware/apps/npu.h"

void pl_app_init(pl_app *app, const pl_vectors *vectors) { pl_app_init_with_npu(app, vectors); }
"""


class VectorsError(ValueError):
    """Error: the vectors do not fit the model. The message gives the reason."""


def source(arrays: Arrays, plan: dict[str, Any], include: str, limit: int = 0) -> str:
    """Return the C file.

    Args:
      arrays: of the .npz.
      plan: plan.json of the model.
      include: path of the plan's header.
      limit: take that many vectors only, all if 0.

    Raises:
      VectorsError: an array is missing, or does not fit the model.
    """
    count = _count(arrays)
    if limit:
        count = min(count, limit)
    parts = [
        '#include "firmware/apps/vectors.h"\n\n#include <stddef.h>\n\n',
        f'#include "{include}"\n\n',
    ]
    for side in ("input", "output"):
        names = []
        for index, tensor in enumerate(plan[f"{side}s"]):
            name = f"{side}_{index}"
            array = _checked(arrays, name, tensor)[:count]
            parts.append(emit.array(name, array, alignment=4) + "\n")
            names.append(name)
        parts.append(f"static const void *const {side}s[] = {{{', '.join(names)}}};\n\n")
    labels = "NULL"
    if "labels" in arrays:
        labels = "labels"
        items = ", ".join(str(int(label)) for label in _labels(arrays["labels"])[:count])
        parts.append(f"static const uint16_t labels[] = {{{items}}};\n\n")
    parts.append(
        f"const pl_vectors pl_image_vectors = {{&{plan['name']}, {count}, "
        f"inputs, outputs, {labels}, pl_compare_{_comparison(plan)}}};\n"
    )
    if any(step["op"] == _NPU for step in plan["steps"]):
        parts.append(_INIT_WITH_NPU)
    return "".join(parts)


def _comparison(plan: dict[str, Any]) -> str:
    """Return the comparison for outputs. ExecuTorch's own ops (aten) compute in float32."""
    return "close" if any(step["op"].startswith("aten::") for step in plan["steps"]) else "bits"


def _count(arrays: Arrays) -> int:
    counts = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise VectorsError(f"all arrays must have the same number of vectors; they have {counts}")
    return next(iter(counts.values()))


def _checked(arrays: Arrays, name: str, tensor: dict[str, Any]) -> npt.NDArray[Any]:
    if name not in arrays:
        raise VectorsError(f"the array {name!r} is missing; the file has {sorted(arrays)}")
    array = arrays[name]
    shape = tuple(tensor["shape"])
    if array.dtype.name != tensor["dtype"] or array.shape[1:] != shape:
        raise VectorsError(
            f"{name} has vectors of {array.dtype.name} {list(array.shape[1:])}; the model needs "
            f"{tensor['dtype']} {list(shape)}"
        )
    return array


def _labels(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > 65535:
        raise VectorsError(
            f"labels must be one class number per vector; got {array.dtype.name} "
            f"{list(array.shape)}"
        )
    return array
