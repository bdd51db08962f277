# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own runtime without its compiler. It imports the compiler only for one decorator."""

import aot.upstream.executorch  # noqa: F401  (first: it leaves the compiler out)

# isort: split
from executorch.runtime import Runtime

__all__ = ["Runtime"]
