# SPDX-License-Identifier: Apache-2.0
"""Graphs for the NPU model, lowered and compiled as ExecuTorch's users do it."""

import logging
import warnings

# Their messages are about missing GPU extensions and internals, not about the graphs.
for _library in ("executorch", "torchao", "torch.utils._pytree"):
    logging.getLogger(_library).setLevel(logging.ERROR)
for _category in (DeprecationWarning, FutureWarning, UserWarning):
    warnings.filterwarnings("ignore", category=_category, module="copyreg|torch|executorch")
