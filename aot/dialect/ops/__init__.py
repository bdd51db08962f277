# SPDX-License-Identifier: Apache-2.0
"""Every op of the dialect; importing this package registers `torch.ops.pl.*`.

Each file beside this one takes part.
"""

from tools.python.submodules import submodules

submodules(__name__)
