# SPDX-License-Identifier: Apache-2.0
"""Disassembles Ethos-U payloads.

bazel run //tools/npu:disassemble -- FILE.pte
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

from pathlib import Path

from absl import app

from npu.ethos_u.disassembly import describe
from npu.ethos_u.payload import PayloadError, parse_payload
from tools.npu.paths import user_path
from tools.npu.payload_file import read_payloads


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("give one file: a .pte, or a payload (vela_bin_stream)")
    path: Path = user_path(argv[1])
    try:
        payloads = read_payloads(path)
        if not payloads:
            raise PayloadError(f"{path} has no Ethos-U delegate")
        for index, data in enumerate(payloads):
            if len(payloads) > 1:
                print(f"delegate {index}")
            for line in describe(parse_payload(data)):
                print(line)
    except (OSError, PayloadError) as error:
        raise SystemExit(f"disassemble: {error}") from error


if __name__ == "__main__":
    run_main(main)
