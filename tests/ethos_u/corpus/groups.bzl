# SPDX-License-Identifier: Apache-2.0
"""The archives of the corpus."""

# Groups of graphs.GROUPS.
GROUPS = [
    "convolutions",
    "elementwise",
    "functions",
    "int16",
    "layout",
    "linear",
    "networks",
    "norms",
    "pools",
    "sparse",
]

# What they are compiled for in every test run, accelerator/memory mode: the smallest and the largest
# U55, that of our board, and the largest U65. The nightly test has all pairs of targets.py.
TARGETS = [
    "ethos-u55-32/Shared_Sram",
    "ethos-u55-128/Shared_Sram",
    "ethos-u55-256/Sram_Only",
    "ethos-u65-512/Dedicated_Sram_384KB",
]

# Large networks, for what shows most: rolling buffers, two cores.
LARGE = [
    "mobilenet_v2_192",
    "mobilenet_v2_96",
]

def archives(groups):
    """Labels of the archives of some groups."""
    return ["//tests/ethos_u/corpus:%s.zip" % group for group in groups]
