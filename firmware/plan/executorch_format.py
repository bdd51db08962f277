# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own description and reader of .pte files, imported without its noise.

Importing them imports torchao, which warns about extensions for other machines and deprecations of
its own: nothing that someone who plans a model can do anything about.
"""

import logging

import torch  # noqa: F401  (sets up its loggers, before their levels are set here)

for _name in ("torchao", "torch.utils._pytree"):
    logging.getLogger(_name).setLevel(logging.ERROR)

# ruff: noqa: E402
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

__all__ = ["deserialize_pte_binary", "schema"]
