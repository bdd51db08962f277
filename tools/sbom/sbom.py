# SPDX-License-Identifier: Apache-2.0
"""Write the software bill of materials of an image, as SPDX 2.3 in JSON.

    bazel run //tools:sbom -- //boards:corstone300_app                  # corstone300_app.spdx.json
    bazel run //tools:sbom -- --output=sbom.json //boards:corstone300_app

The image is built. Paths are relative to the working folder of `bazel run`. If SOURCE_DATE_EPOCH
sets the document's date, the same image gives the same bytes.
"""

from tools.text.signal_handling import run_main

import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from absl import app, flags

from tools.sbom.built_image import SbomError, built, document_of

_OUTPUT = flags.DEFINE_string("output", None, "File to write; by default <image>.spdx.json.")


def _date() -> datetime:
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds:
        return datetime.fromtimestamp(int(seconds), UTC)
    return datetime.now().astimezone()


def main(argv: list[str]) -> int:
    if len(argv) != 2 or not argv[1].startswith(("//", "@")):
        raise app.UsageError("give one image, such as //boards:corstone300_app")
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        image = built(root, argv[1])
    except SbomError as error:
        print(error, file=sys.stderr)
        return 1
    text = document_of(image, _date())
    output = here / (_OUTPUT.value or f"{re.split('[/:]', argv[1])[-1]}.spdx.json")
    output.write_text(json.dumps(text, indent=1) + "\n")
    print(output)
    return 0


if __name__ == "__main__":
    run_main(main)
