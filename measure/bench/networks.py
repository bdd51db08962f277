# SPDX-License-Identifier: Apache-2.0
"""Sums of layers, by network."""

Counts = dict[str, dict[str, int]]
"""Instructions, or cycles, by core and layer."""

Networks = dict[str, dict[str, int]]
"""Count of each of the peer's layers, by network."""


def sums_of_networks(
    counts: Counts, peers: dict[str, str], networks: Networks
) -> dict[str, dict[str, int]]:
    """Return the sums of all layers by core and network, for complete networks."""
    found: dict[str, dict[str, int]] = {}
    for core, layers in counts.items():
        own = {peers[name]: count for name, count in layers.items() if name in peers}
        found[core] = {
            network: sum(own[layer] * times for layer, times in needed.items())
            for network, needed in networks.items()
            if all(layer in own for layer in needed)
        }
    return found
