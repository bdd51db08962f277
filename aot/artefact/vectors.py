# SPDX-License-Identifier: Apache-2.0
"""Test vectors: inputs, and bit-exact outputs of the reference."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from aot.artefact.artefact import Artefact
from aot.dialect.graph import border_nodes, is_channels_last


def in_memory_order(x: torch.Tensor, node: Node) -> np.ndarray[Any, Any]:
    """Return the elements of an input or output in the artefact's memory order.

    The order is [N, H, W, C] for channels_last, regardless of the tensor's own strides.
    """
    last = is_channels_last(node.meta["val"])
    return (x.permute(0, 2, 3, 1) if last else x).contiguous().numpy()


def make_vectors(
    lowered: Artefact, samples: Sequence[Sequence[torch.Tensor]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Return inputs in the artefact's dtype and the reference's outputs, stacked over samples.

    For a model with state the samples are one sequence.
    """
    lowered.reset()
    columns: dict[str, list[np.ndarray[Any, Any]]] = {}
    for sample in samples:
        quantized = lowered.quantize_inputs(lowered.moved.taken(sample))
        both = (("input", quantized), ("output", lowered.reference(quantized)))
        for (kind, tensors), nodes in zip(both, border_nodes(lowered.module), strict=True):
            for i, (tensor, node) in enumerate(zip(tensors, nodes, strict=True)):
                columns.setdefault(f"{kind}_{i}", []).append(in_memory_order(tensor, node))
    return {name: np.stack(arrays) for name, arrays in columns.items()}


def save_npz(path: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write arrays like np.savez, with fixed time stamps: the same arrays give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue()
            )
