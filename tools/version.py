# SPDX-License-Identifier: Apache-2.0
"""The version of Pilotlight: the wheel, packages for other build systems and reports read it here.

MODULE.bazel repeats it, as Bazel takes literals only; //tests/api compares the two.
"""

VERSION = "0.2.0"
