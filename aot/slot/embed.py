# SPDX-License-Identifier: Apache-2.0
"""Writes a file as a C array with the alignment of packages.

embed.py first first.plpk first.c
"""

import sys
from pathlib import Path


def main() -> None:
    name, source, output = sys.argv[1:]
    data = Path(source).read_bytes()
    rows = "".join(
        "    " + ", ".join(map(str, data[at : at + 20])) + ",\n" for at in range(0, len(data), 20)
    )
    Path(output).write_text(
        "#include <stdint.h>\n\n"
        f"extern const uint8_t {name}[];\nextern const uint32_t {name}_bytes;\n"
        f"_Alignas(16) const uint8_t {name}[] = {{\n{rows}}};\n"
        f"const uint32_t {name}_bytes = {len(data)};\n"
    )


if __name__ == "__main__":
    main()
