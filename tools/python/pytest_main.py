# SPDX-License-Identifier: Apache-2.0
"""Runs pytest on the test files of a `pytest_test` target; exits with its status."""

from tools.imports import imports_that_stay

import atexit
import gc
import os
import sys
from contextlib import ExitStack

import pytest


class _ImportedTests:
    """Plugin to exclude imports of test files from garbage collection."""

    def __init__(self) -> None:
        self._within = ExitStack()
        self._within.enter_context(imports_that_stay())

    def pytest_collection_finish(self) -> None:
        self._within.close()


if __name__ == "__main__":
    # Others come later, within tests: fewer looks among these.
    gc.set_threshold(50_000, 20, 100)
    # Plugins of other packages (hypothesis, hydra) take seconds to import, in every test.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = [*sys.argv[1:], "-q", "--durations=5", "--import-mode=importlib"]
    arguments += ["-p", "no:cacheprovider"]
    arguments += ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
    if "XML_OUTPUT_FILE" in os.environ:
        arguments.append(f"--junitxml={os.environ['XML_OUTPUT_FILE']}")
    if "TESTBRIDGE_TEST_ONLY" in os.environ:  # bazel test --test_filter
        arguments += ["-k", os.environ["TESTBRIDGE_TEST_ONLY"]]
    if "TEST_TMPDIR" in os.environ:
        arguments.append(f"--basetemp={os.environ['TEST_TMPDIR']}/pytest")
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.environ["TEST_TMPDIR"])
    status = pytest.main(arguments, plugins=[_ImportedTests()])
    # End immediately: cleaning up the imported modules takes half a second, or more.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
