# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest

PROGRAMS = {
    "the compiler is not imported until asked for": """
import sys
import aot.pte.writer
assert "executorch.exir.program" not in sys.modules
import executorch.exir
assert "executorch.exir.program" not in sys.modules
executorch.exir.EdgeCompileConfig()
assert "executorch.exir.program" in sys.modules
""",
    "names and submodules of the package are there": """
import aot.pte.exir
import executorch.exir.backend.backend_api
from executorch.exir import capture, schema, to_edge
assert schema is aot.pte.exir.et
assert callable(capture) and callable(to_edge)  # there is a submodule `capture`, too
""",
    "a package imported before is used": """
import executorch.exir
import aot.pte.exir
assert aot.pte.exir.et is executorch.exir.schema
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_importing(program: str) -> None:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
