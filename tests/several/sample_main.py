# SPDX-License-Identifier: Apache-2.0
"""Writes a model that takes about half of the micro:bit's RAM.

sample_main output.pte
"""

from pathlib import Path

from absl import app

from firmware.plan.testing import Network, export_pte


def main(argv: list[str]) -> None:
    network = Network(size=16, channels=12)
    pte = export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))
    Path(argv[1]).write_bytes(pte)


if __name__ == "__main__":
    app.run(main)
