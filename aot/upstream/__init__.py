# SPDX-License-Identifier: Apache-2.0
"""Private names of torch, torchao and ExecuTorch, and the places where we replace their functions.

No other folder imports a private name of these libraries (test_upstream.py). A new version of a
library breaks here first: the test lists the names that are gone.
"""

VERSIONS = {
    "executorch": ">=1.3.1,<1.5",
    "torch": ">=2.12.1,<2.15",
    "torchao": ">=0.17.0,<0.19",
}
"""Versions for which the names hold. pyproject.toml has the same; a test compares them."""
