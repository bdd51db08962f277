# SPDX-License-Identifier: Apache-2.0
"""Extracts the payloads of the stand-in from a .pte: each is a .pte of its own.

    regions_main --pte=model.pte --table=table.c region_0.pte region_1.pte

The table maps each payload to a compiled plan.
"""

from pathlib import Path

from absl import app, flags

from aot.pte.conventions import CHECKSUM_BYTES
from aot.pte.reader import delegate_payloads

_PTE = flags.DEFINE_string("pte", None, "The model.", required=True)
_TABLE = flags.DEFINE_string("table", None, "The table to write.", required=True)

_TEXT = """\
// SPDX-License-Identifier: Apache-2.0
#include "tests/delegates/stand_in.h"
{includes}
const stand_in_region stand_in_regions[] = {{
{rows}}};
const uint32_t stand_in_region_count = {count};
"""


def main(argv: list[str]) -> None:
    regions = map(Path, argv[1:])
    payloads = delegate_payloads(Path(_PTE.value).read_bytes(), "StandInBackend")
    rows, includes = [], []
    for region, payload in zip(regions, payloads, strict=True):
        region.write_bytes(payload)
        checksum = int.from_bytes(payload[-CHECKSUM_BYTES:], "little")
        rows.append(f"    {{{checksum:#010x}u, &{region.stem}_plan}},\n")
        includes.append(f'#include "tests/delegates/{region.stem}_plan.h"\n')
    text = _TEXT.format(includes="".join(includes), rows="".join(rows), count=len(rows))
    Path(_TABLE.value).write_text(text)


if __name__ == "__main__":
    app.run(main)
