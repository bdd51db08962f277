# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest

PROGRAMS = {
    "the compiler is not imported until asked for": """
import sys
import aot.pte.writer
import executorch.backends.arm.arm_vela
import executorch.runtime
assert "executorch.exir.program" not in sys.modules
import executorch.exir
assert "executorch.exir.program" not in sys.modules
executorch.exir.EdgeCompileConfig()
assert "executorch.exir.program" in sys.modules
""",
    "names and submodules of the package are there": """
import aot.upstream.executorch
import executorch.exir.backend.backend_api
from executorch.exir import capture, schema, to_edge
assert schema is aot.upstream.executorch.et
assert callable(capture) and callable(to_edge)  # there is a submodule `capture`, too
""",
    "a package imported before is used": """
import executorch.exir
import aot.upstream.executorch
assert aot.upstream.executorch.et is executorch.exir.schema
""",
}


# ExecuTorch's own dependencies take most of the time, and are the same for all.
_BY_ITSELF = """
import gc, os, sys, traceback
gc.disable()
import torch._inductor.fx_passes.post_grad, torch.export, torchao.quantization.pt2e
assert not [name for name in sys.modules if name.startswith(("aot", "executorch"))]
for program in sys.argv[1:]:
    if os.fork() == 0:
        try:
            exec(program, {})
            print("done", end="")
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    os.wait()
    print(end="\\0", flush=True)
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """Return the output of each program, run in a process of its own."""
    command = [sys.executable, "-c", _BY_ITSELF, *PROGRAMS.values()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(PROGRAMS, done.stdout.split("\0")[:-1], strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_importing(name: str, printed: dict[str, str]) -> None:
    assert printed[name] == "done"
