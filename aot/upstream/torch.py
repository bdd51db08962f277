# SPDX-License-Identifier: Apache-2.0
"""Private names of torch that load with `import torch`. torch_export.py has the slow ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch._C import _dispatch_has_kernel as dispatch_has_kernel
from torch._C import _get_schema as get_schema
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._decomp import _core_aten_decompositions_post_autograd as core_aten_decompositions
from torch._decomp import decomposition_table, decompositions
from torch._dispatch.python import enable_python_dispatcher
from torch._export.utils import _is_cia_op as is_composite
from torch._export.utils import _is_preservable_cia_op as is_preservable_composite
from torch._export.utils import _special_op_to_preserve_cia as preserved_composite
from torch._export.verifier import SpecViolationError
from torch._guards import detect_fake_mode
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.export.exported_program import _decompose_exported_program as decompose_exported_program
from torch.export.exported_program import (
    _override_composite_implicit_decomp as override_composite_decomposition,
)
from torch.fx.graph import _PyTreeCodeGen as PyTreeCodeGen
from torch.fx.graph import _PyTreeInfo as PyTreeInfo
from torch.nn.modules.batchnorm import _BatchNorm as BatchNorm
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass
from torch.utils._python_dispatch import _disable_current_modes as disable_current_modes
from torch.utils._pytree import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)

from aot.upstream.patches import patched

__all__ = [
    "BatchNorm",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "PyTreeCodeGen",
    "PyTreeInfo",
    "SpecViolationError",
    "TorchDispatchMode",
    "core_aten_decompositions",
    "decompose_exported_program",
    "decomposition_table",
    "decompositions",
    "detect_fake_mode",
    "disable_current_modes",
    "dispatch_has_kernel",
    "enable_python_dispatcher",
    "get_schema",
    "is_composite",
    "is_functorch_wrapped_tensor",
    "is_preservable_composite",
    "is_traceable_wrapper_subclass",
    "keystr",
    "module_samples",
    "operator_samples",
    "override_composite_decomposition",
    "preserved_composite",
    "recurrent_layers_as",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

_STEPPED = ("one_layer_rnn", "one_layer_lstm", "mkldnn_one_layer_lstm")


def recurrent_layers_as(
    function: Callable[..., tuple[torch.Tensor, Any]],
) -> AbstractContextManager[None]:
    """Within the context, call this function for recurrent layers instead of unrolling them."""
    return patched(decompositions, **dict.fromkeys(_STEPPED, function))


def operator_samples() -> Any:
    """Return torch's database of operators with sample inputs. Its import takes seconds."""
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def module_samples() -> Any:
    """Return torch's database of modules with sample inputs. Its import takes seconds."""
    from torch.testing._internal.common_modules import module_db

    return module_db
