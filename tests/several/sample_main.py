# SPDX-License-Identifier: Apache-2.0
"""Writes a model that takes about half of the micro:bit's RAM.

sample_main output.pte
"""

import sys
from pathlib import Path

from firmware.plan.testing import Network, export_pte


def main() -> None:
    network = Network(size=16, channels=12)
    pte = export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))
    Path(sys.argv[1]).write_bytes(pte)


if __name__ == "__main__":
    main()
