# SPDX-License-Identifier: Apache-2.0
"""Private names of torch, torchao and ExecuTorch, and the places where we replace their functions.

No other folder imports a private name of these libraries (test_upstream.py). A new version of a
library breaks here first: the test lists the names that are gone.
"""

VERSIONS = {
    "executorch": "==1.4.1",
    "torch": "==2.13.0",
    "torchao": "==0.18.0",
}
"""Versions for which the names hold. pyproject.toml has the same; a test compares them."""
