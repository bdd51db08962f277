# SPDX-License-Identifier: Apache-2.0
"""The archives of the corpus."""

# Groups of graphs.GROUPS, compiled for all configurations in all memory modes.
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

# Large networks, for what shows most: rolling buffers, two cores.
LARGE = [
    "mobilenet_v2_192",
    "mobilenet_v2_96",
]

def archives(groups):
    """Labels of the archives of some groups."""
    return ["//tests/ethos_u/corpus:%s.zip" % group for group in groups]
