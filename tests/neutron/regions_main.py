# SPDX-License-Identifier: Apache-2.0
"""Extracts the data sent to the stand-in of NXP's converter from a .pte: a .tflite file per
delegate.

    regions_main --pte=model.pte --table=table.c region_0.tflite region_1.tflite

The table maps each file to a compiled plan.
"""

import zlib
from pathlib import Path

from absl import app, flags

from aot.pte.reader import delegate_payloads
from npu.neutron.payload import parse

_PTE = flags.DEFINE_string("pte", None, "The model.", required=True)
_TABLE = flags.DEFINE_string("table", None, "The table to write.", required=True)

_TEXT = """\
// SPDX-License-Identifier: Apache-2.0
#include "tests/neutron/stand_in_driver.h"
{includes}
const stand_in_region stand_in_regions[] = {{
{rows}}};
const uint32_t stand_in_region_count = {count};
"""


def main(argv: list[str]) -> None:
    regions = map(Path, argv[1:])
    payloads = delegate_payloads(Path(_PTE.value).read_bytes(), "NeutronBackend")
    rows, includes = [], []
    for region, payload in zip(regions, payloads, strict=True):
        sent = parse(payload).program.weights
        region.write_bytes(sent)
        rows.append(f"    {{{zlib.crc32(sent):#010x}u, &{region.stem}_plan}},\n")
        includes.append(f'#include "tests/neutron/{region.stem}_plan.h"\n')
    text = _TEXT.format(includes="".join(includes), rows="".join(rows), count=len(rows))
    Path(_TABLE.value).write_text(text)


if __name__ == "__main__":
    app.run(main)
