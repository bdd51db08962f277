# SPDX-License-Identifier: Apache-2.0
"""Flash size of the model and the driver in an image, with an upper limit."""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from tools.image.link_map import read_link_map

_LIMIT = flags.DEFINE_integer("limit", 28 * 1024, "Bytes of the model and what it needs, at most.")
_MODEL = ("npu/ethos_u/model", "npu/ethos_u", "firmware/ethos_u")
_DRIVER = ("firmware/ethos_u/driver",)


def main(argv: list[str]) -> None:
    sizes: dict[str, int] = {}
    link_map = next(path for path in argv[1:] if path.endswith(".map"))
    for piece in read_link_map(Path(link_map).read_text()):
        sizes[piece.origin] = sizes.get(piece.origin, 0) + piece.size
    model = sum(sizes.get(origin, 0) for origin in _MODEL)
    print(f"model and payload reader: {model} bytes of code and constants")
    print(f"driver: {sum(sizes.get(origin, 0) for origin in _DRIVER)} bytes")
    if not 0 < model <= _LIMIT.value:
        raise SystemExit(f"{model} bytes, {_LIMIT.value} were planned")


if __name__ == "__main__":
    app.run(main)
