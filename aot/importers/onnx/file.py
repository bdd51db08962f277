# SPDX-License-Identifier: Apache-2.0
"""Reader of an .onnx file: parsing, limits, and constants as tensors.

The file may contain anything. A damaged or a hostile file gives an error, and takes no more memory
than its size suggests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError
from onnx import ModelProto, NodeProto, TensorProto, defs, external_data_helper, numpy_helper
from onnx.inliner import inline_local_functions

from aot.errors import LoweringError, describe

MOST_ELEMENTS = 2**26
"""Limit of a tensor: no microcontroller holds more."""
MOST_NODES = 2**15
MOST_RANK = 8
OLDEST_OPSET = 8
_MOST_BYTES = 2**31 - 1
_STANDARD = ("", "ai.onnx")

# One type of reals and one of indices; small integers keep theirs.
_DTYPES: dict[str, Any] = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float32,
    "float64": np.float32,
    "int4": np.int8,
    "uint4": np.uint8,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.int32,
    "int32": np.int32,
    "uint32": np.int64,
    "int64": np.int64,
    "uint64": np.int64,
    "bool": np.bool_,
}

DAMAGE = (LookupError, ValueError, TypeError, ArithmeticError, AttributeError, RuntimeError)
"""Errors of onnx, numpy and torch for contradicting contents."""


@contextmanager
def damage_named() -> Iterator[None]:
    """Turn errors of damaged contents, such as a name that is no text, into a LoweringError."""
    try:
        yield
    except DAMAGE as error:
        raise LoweringError(f"the .onnx file is damaged: {_line(error)}") from error


def dtype_named(name: str) -> torch.dtype:
    """Return the type of imported values for a numpy type's name.

    Raises:
      LoweringError: values of it have no form here.
    """
    if name not in _DTYPES:
        raise LoweringError(f"the .onnx file has values of type {name}")
    return torch.from_numpy(np.zeros(0, _DTYPES[name])).dtype


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """A parsed file.

    Attributes:
      model: with its functions inlined.
      opset: version of the standard operators.
      folder: of its external data; None if it came as bytes.
    """

    model: ModelProto
    opset: int
    folder: Path | None

    def constant(self, tensor: TensorProto) -> torch.Tensor:
        """Return the values of a constant.

        Raises:
          LoweringError: it is too large, incomplete, or of a type without a form here.
        """
        where = f"constant `{tensor.name}` of the .onnx file"
        shape = [*tensor.dims]
        check_shape(where, shape)
        try:
            if tensor.data_location == TensorProto.EXTERNAL:
                local = TensorProto()
                local.CopyFrom(tensor)
                local.ClearField("external_data")
                local.data_location = TensorProto.DEFAULT
                local.raw_data = self._external(where, tensor)
                tensor = local
            array = np.asarray(numpy_helper.to_array(tensor))
        except DAMAGE as error:
            raise LoweringError(f"{where} is damaged: {_line(error)}") from error
        if array.dtype.name not in _DTYPES:
            raise LoweringError(f"{where} is {array.dtype.name}")
        # A copy: it has memory of its own, and may be written to.
        return torch.from_numpy(np.array(array, _DTYPES[array.dtype.name], order="C"))

    def _external(self, where: str, tensor: TensorProto) -> bytes:
        info = external_data_helper.ExternalDataInfo(tensor)
        if self.folder is None:
            raise LoweringError(f"{where} lies in a file beside it: give the path, not the bytes")
        root = self.folder.resolve()
        path = (root / str(info.location)).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise LoweringError(f"{where}: no file {info.location!r} in the folder of the model")
        start = int(info.offset or 0)
        size = path.stat().st_size
        length = size - start if info.length is None else int(info.length)
        if not 0 <= start <= start + length <= size:
            raise LoweringError(f"{where}: its bytes are not in {info.location!r}")
        with path.open("rb") as file:
            file.seek(start)
            return file.read(length)


def check_shape(where: str, shape: Sequence[int]) -> None:
    """Raise LoweringError for a tensor without a size, or with one above all limits."""
    sizes = [int(size) for size in shape]
    if len(sizes) > MOST_RANK or min([*sizes, 0]) < 0 or math.prod(sizes) > MOST_ELEMENTS:
        raise LoweringError(
            f"{where} has the shape {sizes[: MOST_RANK + 1]}; the limits are {MOST_RANK} "
            f"dimensions and {MOST_ELEMENTS:,} elements"
        )


def read(source: str | PathLike[str] | bytes) -> OnnxFile:
    """Return a file's parsed contents.

    Raises:
      LoweringError: it is no .onnx file, is damaged, or has an opset out of range.
    """
    folder = None
    if isinstance(source, str | PathLike):
        path = Path(source)
        folder = path.parent
        try:
            too_large = path.stat().st_size > _MOST_BYTES
            data = b"" if too_large else path.read_bytes()
        except OSError as error:
            raise LoweringError(f"{path}: {error.strerror}") from error
        if too_large:
            raise LoweringError(f"{path} is larger than 2 GB, the limit of an .onnx file")
    elif isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
    else:
        raise LoweringError(f"the .onnx file is {describe(source)}; give its path or its bytes")
    try:
        model = ModelProto.FromString(data)
    except DecodeError as error:
        raise LoweringError(f"this is no .onnx file, or a damaged one: {_line(error)}") from error
    if not model.graph.node:
        raise LoweringError("this is no .onnx file, or one without a node")
    with damage_named():
        return _checked(model, folder)


def _checked(model: ModelProto, folder: Path | None) -> OnnxFile:
    opset = next((o.version for o in model.opset_import if o.domain in _STANDARD), 0)
    newest = defs.onnx_opset_version()
    if not OLDEST_OPSET <= opset <= newest:
        raise LoweringError(
            f"the .onnx file has opset {opset}. Convert it to one of {OLDEST_OPSET} to {newest}, "
            "with onnx.version_converter."
        )
    if model.functions:
        model = inline_local_functions(model)
    if len(model.graph.node) > MOST_NODES:
        raise LoweringError(f"the .onnx file has {len(model.graph.node)} nodes, above {MOST_NODES}")
    return OnnxFile(model, opset, folder)


def operator_of(node: NodeProto) -> str:
    """Return the operator's name; "domain::name" if it is not a standard one."""
    domain = "" if node.domain in _STANDARD else f"{node.domain}::"
    return f"{domain}{node.op_type}"


def _line(error: BaseException) -> str:
    return [*str(error).strip().splitlines(), type(error).__name__][0]
