# SPDX-License-Identifier: Apache-2.0
"""Private names of torch, torchao and ExecuTorch, and replacements of their functions.

No other folder imports a private name of these libraries (test_upstream.py). A new version of a
library breaks here first: the test lists the missing names.
"""

VERSIONS = {
    "executorch": ">=1.3.1,<1.5",
    "torch": ">=2.12.1,<2.15",
    "torchao": ">=0.17.0,<0.19",
}
"""Versions with these names. pyproject.toml has the same versions; a test compares them."""
