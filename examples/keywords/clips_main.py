# SPDX-License-Identifier: Apache-2.0
"""Writes the recordings that replace a microphone, one of each word, as clips.h.

clips_main clips.h
"""

import sys
from pathlib import Path

from examples.keywords.model import SAMPLES, WORDS, recording

_SEED = 2000


def main() -> None:
    rows = [
        "{" + ", ".join(map(str, recording(word, _SEED + word))) + "}" for word in range(len(WORDS))
    ]
    clips = ",\n".join(rows)
    words = ", ".join(f'"{word}"' for word in WORDS)
    Path(sys.argv[1]).write_text(
        "#include <stdint.h>\n"
        f"enum {{ WORDS = {len(WORDS)}, SAMPLES = {SAMPLES} }};\n"
        f"static const char *const words[WORDS] = {{{words}}};\n"
        f"static const int16_t clips[WORDS][SAMPLES] = {{\n{clips}}};\n"
    )


if __name__ == "__main__":
    main()
