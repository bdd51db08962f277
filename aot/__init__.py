# SPDX-License-Identifier: Apache-2.0
"""Ahead-of-time lowering of PyTorch modules."""

import logging
import warnings

# What these say when they are imported is of GPU extensions that are not there, and of their own
# deprecations: nothing that a user could mend.
for _library in ("torchao", "torch.utils._pytree"):
    logging.getLogger(_library).setLevel(logging.ERROR)
for _module in ("copyreg", "torch", "torchao", "executorch"):
    warnings.filterwarnings("ignore", category=FutureWarning, module=_module)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=_module)
