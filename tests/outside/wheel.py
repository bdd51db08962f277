# SPDX-License-Identifier: Apache-2.0
"""A user's model, and commands of an environment with the wheel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MODEL = """\
import torch


def factory():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(2304, 4)).eval()


def calibration():
    for seed in range(16):
        yield (torch.randn(1, 1, 16, 16, generator=torch.Generator().manual_seed(seed)),)
"""


def call(environment: Path, folder: Path, *command: str, status: int = 0, **variables: str) -> str:
    """Run a program of the environment and return its output."""
    program, *arguments = command
    done = subprocess.run(
        [environment / "bin" / program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder), **variables},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_check(project: Path) -> None:
    """Compile the library in `out` for this machine, and run its program that checks the model.

    Scalar kernels are C for any machine.
    """
    sources = [str(path) for path in (project / "out/src").rglob("*.c")]
    compiler = [os.environ["CC"], "-std=c11", "-Wall", "-Werror", "-O1", f"-I{project}/out/src"]
    compiler += [*sources, f"{project}/out/example_main.c", "-o", f"{project}/check"]
    for command in (compiler, [f"{project}/check"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
