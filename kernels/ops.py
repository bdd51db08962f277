# SPDX-License-Identifier: Apache-2.0
"""Every op of the dialect; importing this module registers `torch.ops.pl.*`.

The definitions lie beside the kernels: op.py, or op_<name>.py, in each folder beside this file.
"""

import importlib
from pathlib import Path

MODULES = [
    importlib.import_module(f"{__package__}.{path.parent.name}.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*/op*.py"))
]
"""The definitions, by folder."""
