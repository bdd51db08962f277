# SPDX-License-Identifier: Apache-2.0
"""What layers take, added up to networks."""

Counts = dict[str, dict[str, int]]
"""Instructions, or cycles, by core and layer."""

Networks = dict[str, dict[str, int]]
"""By network, how often it has a peer's layer."""


def sums_of_networks(
    counts: Counts, peers: dict[str, str], networks: Networks
) -> dict[str, dict[str, int]]:
    """Of all layers by core and network, where all are there."""
    found: dict[str, dict[str, int]] = {}
    for core, layers in counts.items():
        own = {peers[name]: count for name, count in layers.items() if name in peers}
        found[core] = {
            network: sum(own[layer] * times for layer, times in needed.items())
            for network, needed in networks.items()
            if all(layer in own for layer in needed)
        }
    return found
