# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's runtime without its compiler, which it imports only for a decorator."""

import aot.upstream.executorch  # noqa: F401  (first: it leaves the compiler out)

# isort: split
from executorch.runtime import Runtime

__all__ = ["Runtime"]
