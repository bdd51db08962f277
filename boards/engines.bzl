# SPDX-License-Identifier: Apache-2.0
"""Engines running delegates, besides the core."""

def engine(backend, configuration = "", out_of_reach = [], scratch = "", cache_bytes = 0):
    """Describes an engine for the delegates of a backend.

    Args:
      backend: its id in a .pte.
      configuration: the engine's configuration in payloads. "": any.
      out_of_reach: names of memories that it cannot reach, such as the core's own.
      scratch: name of the memory for its scratch. "": any that it reaches.
      cache_bytes: size of its own memory in payloads.
    """
    return struct(
        backend = backend,
        configuration = configuration,
        out_of_reach = out_of_reach,
        scratch = scratch,
        cache_bytes = cache_bytes,
    )

def ethos_u(
        configuration,
        base,
        irq,
        memory_mode,
        scratch,
        out_of_reach = [],
        fast_memory = "",
        fast_bytes = 0,
        axi_limits = None,
        simulated = False):
    """Describes an Arm Ethos-U, the engine of ExecuTorch's "EthosUBackend".

    Args:
      configuration: Vela's name, such as "ethos-u55-128". Plans refuse models for another one.
        Firmware asks the NPU (firmware/ethos_u/driver).
      base: address of its registers.
      irq: number of its interrupt.
      memory_mode: Vela's name for the use of its AXI ports: Sram_Only, Shared_Sram or Dedicated_Sram.
      scratch: name of the memory for its scratch.
      out_of_reach: names of memories that it cannot reach, such as the core's own.
      fast_memory: with Dedicated_Sram, name of the memory for the NPU's cache, a variable.
      fast_bytes: size of this cache, Vela's arena_cache_size.
      axi_limits: axi_limit() for each of the four counters: two of port 0, two of port 1.
      simulated: use the functional model if no NPU answers.
    """
    return {
        "configuration": configuration,
        "out_of_reach": out_of_reach,
        "base": base,
        "irq": irq,
        "memory_mode": memory_mode,
        "scratch": scratch,
        "fast_memory": fast_memory,
        "fast_bytes": fast_bytes,
        "axi_limits": axi_limits or [axi_limit()] * 4,
        "simulated": simulated,
    }

def engines_of(engines, npu, memories):
    """Returns the engines of a chip in the form of board.json.

    Args:
      engines: list of engine().
      npu: ethos_u(), None if there is none.
      memories: names of the existing memories.

    Returns:
      A list of dicts.
    """
    if npu:
        of_npu = engine(
            "EthosUBackend",
            npu["configuration"],
            npu["out_of_reach"],
            npu["scratch"],
            npu["fast_bytes"],
        )
        engines = engines + [of_npu]
    return [
        {
            "backend": one.backend,
            "configuration": one.configuration,
            "memories": [memory for memory in memories if memory not in one.out_of_reach],
            "scratch": one.scratch,
            "cache_bytes": one.cache_bytes,
        }
        for one in engines
    ]

def axi_limit(burst_bytes = 64, memory_type = 2, reads = 32, writes = 16):
    """Describes memory use of the NPU: bytes of a burst (64, 128 or 256), AXI memory type, parallel transfers."""
    return {
        "burst_bytes": burst_bytes,
        "memory_type": memory_type,
        "outstanding_reads": reads,
        "outstanding_writes": writes,
    }
