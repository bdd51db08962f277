# SPDX-License-Identifier: Apache-2.0
"""Write a folder of evidence about an image: hashes, SBOM, claims with their tests, bounds.

    bazel run //boards:corstone300_app.evidence                    # corstone300_app.evidence/
    bazel run //boards:corstone300_app.evidence -- --run_tests     # and the claims' tests
    bazel run //boards:corstone300_app.evidence -- --nightly       # and their nightly tests

The image is built. The same image and the same results of tests give the same bytes.
"""

from tools.text.signal_handling import run_main

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from absl import app, flags

from tools.evidence.claims import CLAIMS
from tools.evidence.page import page
from tools.python.bazel import bazel_program
from tools.sbom.built_image import SbomError, built, document_of

_OUTPUT = flags.DEFINE_string("output", None, "Folder to write; by default <image>.evidence.")
_RUN_TESTS = flags.DEFINE_bool("run_tests", False, "Run the tests of the claims, not the nightly.")
_NIGHTLY = flags.DEFINE_bool("nightly", False, "Run the nightly tests of the claims, too.")

_RESULT = re.compile(r"^(//\S+) +(?:\(cached\) )?([A-Z][A-Z ]*[A-Z])(?: in .*)?$", re.MULTILINE)
# SPDX wants a date. An image has none: this is the first that a zip file can hold.
_DATE = datetime(1980, 1, 1, tzinfo=UTC)


def results_of(output: str) -> dict[str, str]:
    """Return results by label in Bazel's output of tests."""
    return {label: result.lower() for label, result in sorted(_RESULT.findall(output))}


def _run_tests(root: Path, labels: Sequence[str]) -> dict[str, str]:
    command = [bazel_program(root), "test", "--keep_going", "--color=no", "--curses=no", *labels]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    return results_of(done.stdout)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(argv: list[str]) -> int:
    if len(argv) != 2 or not argv[1].startswith(("//", "@")):
        raise app.UsageError("give one image, such as //boards:corstone300_app")
    label = argv[1]
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        image = built(root, label)
    except SbomError as error:
        print(error, file=sys.stderr)
        return 1
    claims = [claim for claim in CLAIMS if _NIGHTLY.value or not claim.nightly]
    labels = sorted({f"//{test}" for claim in claims for test in claim.tests})
    results = _run_tests(root, labels) if _RUN_TESTS.value or _NIGHTLY.value else {}
    folder = here / (_OUTPUT.value or f"{re.split('[/:]', label)[-1]}.evidence")
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "results.json": results,
        "sbom.spdx.json": document_of(image, _DATE),
        "size.json": image.size,
    }
    for name, data in written.items():
        (folder / name).write_text(json.dumps(data, indent=1) + "\n")
    files = (*image.files, *image.models, *(folder / name for name in written))
    hashes = [(path.name, _digest(path)) for path in files]
    html = page(label, image.size, image.compiler, hashes, results)
    (folder / "index.html").write_text(html)
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    run_main(main)
