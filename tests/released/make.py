# SPDX-License-Identifier: Apache-2.0
"""Writes one file of each format, as a release has them. Tests of later versions read them.

    bazel run //tests/released:make -- 0.3.0

Run it on the release's commit (docs/releasing.md). It writes tests/released/<version>/.
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import json
import os
import tempfile
from pathlib import Path

with imports_that_stay():
    import numpy as np
    import torch
    from absl import app

    from aot.artefact.vectors import make_vectors
    from aot.lower import lower
    from aot.pte.conventions import FORMAT_VERSION
    from aot.slot.package import FORMAT
    from firmware.slot.testing.host import Host


def network() -> torch.nn.Module:
    """Return a convolution, a lookup table, a pool, a linear layer."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, stride=2, padding=1),
        torch.nn.Hardswish(),
        torch.nn.AvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(16, 3),
    ).eval()


def samples() -> list[tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.rand(1, 2, 8, 8, generator=generator) - 0.5,) for _ in range(32)]


def write_files(folder: Path) -> None:
    """Write net.pte with net.npz, sample.plpk, and formats.json with their versions."""
    folder.mkdir(parents=True)
    lowered = lower(network(), samples()[0], calibration=samples())
    (folder / "net.pte").write_bytes(lowered.pte)
    np.savez_compressed(folder / "net.npz", **make_vectors(lowered, samples()[:2]))
    with tempfile.TemporaryDirectory() as work:
        (folder / "sample.plpk").write_bytes(Host(Path(work)).package("1.0.0"))
    formats = {"pte": FORMAT_VERSION, "package": FORMAT}
    (folder / "formats.json").write_text(json.dumps(formats, indent=1) + "\n")


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("name the version, such as 0.3.0")
    folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "tests/released" / argv[1]
    write_files(folder)
    print(folder)


if __name__ == "__main__":
    run_main(main)
