# SPDX-License-Identifier: Apache-2.0
"""Takes the payloads of the stand-in out of a .pte: each is a .pte of its own.

regions_main model.pte table.c region_0.pte region_1.pte

The table says which compiled plan stands for which payload.
"""

import sys
from pathlib import Path

from aot.pte.conventions import CHECKSUM_BYTES
from aot.pte.reader import delegate_payloads

_TABLE = """\
// SPDX-License-Identifier: Apache-2.0
#include "tests/delegates/stand_in.h"
{includes}
const stand_in_region stand_in_regions[] = {{
{rows}}};
const uint32_t stand_in_region_count = {count};
"""


def main() -> None:
    model, table, *regions = map(Path, sys.argv[1:])
    payloads = delegate_payloads(model.read_bytes(), "StandInBackend")
    rows, includes = [], []
    for region, payload in zip(regions, payloads, strict=True):
        region.write_bytes(payload)
        checksum = int.from_bytes(payload[-CHECKSUM_BYTES:], "little")
        rows.append(f"    {{{checksum:#010x}u, &{region.stem}_plan}},\n")
        includes.append(f'#include "tests/delegates/{region.stem}_plan.h"\n')
    text = _TABLE.format(includes="".join(includes), rows="".join(rows), count=len(rows))
    table.write_text(text)


if __name__ == "__main__":
    main()
