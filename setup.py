# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: tests, and tools of the repository, stay out of the package."""

from setuptools import setup
from setuptools.command.build_py import build_py

_TESTS = ("cases", "mutants", "test_", "testing")
_TOOLS = (
    ("aot", "lower_worker"),
    ("aot", "supported_ops"),
    ("firmware.plan", "compile_worker"),
    ("firmware.plan", "decode_worker"),
)
_ONLY = {"firmware.ethos_u": ("payload",)}  # what plans are made with; the rest runs programs


class BuildPy(build_py):  # type: ignore[misc]
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [
            module
            for module in found
            if not module[1].startswith(_TESTS)
            and module[:2] not in _TOOLS
            and module[1] in _ONLY.get(package, (module[1],))
        ]


setup(cmdclass={"build_py": BuildPy})
