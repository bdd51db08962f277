# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: tests stay out of the package."""

from setuptools import setup
from setuptools.command.build_py import build_py

_TESTS = ("cases", "mutants", "test_", "testing")


class BuildPy(build_py):  # type: ignore[misc]
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if not module[1].startswith(_TESTS)]


setup(cmdclass={"build_py": BuildPy})
