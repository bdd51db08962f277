# SPDX-License-Identifier: Apache-2.0
"""What runs delegates beside the core."""

def engine(backend, configuration = "", out_of_reach = [], scratch = "", cache_bytes = 0):
    """What runs the delegates of a backend.

    Args:
      backend: its id in a .pte.
      configuration: which engine it is, as payloads say it; "" if it takes any.
      out_of_reach: names of memories that it does not reach, such as the core's own.
      scratch: name of the memory for its scratch; "" for any that it reaches.
      cache_bytes: of its own memory that payloads are made for.
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
    """An Arm Ethos-U, and the engine of ExecuTorch's "EthosUBackend".

    Args:
      configuration: which one, as Vela names it: "ethos-u55-128". Plans refuse models that were
        lowered for another; firmware asks the NPU itself (firmware/ethos_u/driver).
      base: address of its registers.
      irq: number of its interrupt.
      memory_mode: what its AXI ports lead to, in Vela's words: Sram_Only, Shared_Sram or
        Dedicated_Sram.
      scratch: name of the memory for its scratch.
      out_of_reach: names of memories that it does not reach, such as the core's own.
      fast_memory: of Dedicated_Sram: name of the memory for the NPU's cache, which is a variable.
      fast_bytes: its size, the arena_cache_size that Vela has for the memory mode.
      axi_limits: axi_limit() for each of the four counters: two of port 0, two of port 1.
      simulated: whether the functional model stands in where no NPU answers.
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
    """Says in board.json's words what runs delegates on a chip.

    Args:
      engines: list of engine().
      npu: ethos_u(), None if there is none.
      memories: names of the memories that there are.

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
    """How the NPU uses memory: bytes of a burst (64, 128 or 256), AXI memory type, transfers at once."""
    return {
        "burst_bytes": burst_bytes,
        "memory_type": memory_type,
        "outstanding_reads": reads,
        "outstanding_writes": writes,
    }
