# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own reader and runtime, without its compiler, which the runtime imports for one
decorator: tests that only load a .pte need not wait for it.
"""

import aot.pte.exir  # noqa: F401  (first: it leaves the compiler out)

# isort: split
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.runtime import Runtime

__all__ = ["Runtime", "deserialize_pte_binary"]
