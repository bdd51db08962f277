# SPDX-License-Identifier: Apache-2.0
"""Choice of the memories of an NPU: Vela's memory mode and system configuration."""

from __future__ import annotations

from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path

import ethosu

from aot.backends.npus import ARM_INI, Npu


def with_memories(npu: Npu, memory_mode: str, system_config: str, vela_ini: str) -> Npu:
    """Return an NPU with other memories; "" keeps the default.

    Args:
      memory_mode, system_config: names of sections of the file, without their prefix.
      vela_ini: path of a file of your own in place of Arm's, with both.

    Raises:
      ValueError: there is no such file or section, or the NPU cannot have this memory mode.
    """
    path = (
        Path(vela_ini).resolve() if vela_ini else Path(ethosu.__path__[0], "config_files", ARM_INI)
    )
    known = ConfigParser()
    if not known.read(path):
        raise ValueError(f"vela_ini is {vela_ini}, which is no file to read")
    mode, system = memory_mode or npu.memory_mode, system_config or npu.system_config
    for prefix, name in (("Memory_Mode.", mode), ("System_Config.", system)):
        if not known.has_section(prefix + name):
            names = [s.removeprefix(prefix) for s in known.sections() if s.startswith(prefix)]
            raise ValueError(f"{path.name} has no [{prefix}{name}]; there are: {', '.join(names)}")
    cache = _cache_bytes(known, f"Memory_Mode.{mode}")
    if cache and npu.is_u55:
        raise ValueError(f"memory mode {mode} has a cache; an Ethos-U55 has none")
    ini = str(path) if vela_ini else ARM_INI
    return replace(npu, memory_mode=mode, system_config=system, cache_bytes=cache, vela_ini=ini)


def _cache_bytes(known: ConfigParser, section: str) -> int:
    """Return the size of the cache of a memory mode, 0 if it has none."""
    values = dict(known[section])
    while "inherit" in values:
        values = {**known[values.pop("inherit")], **values}
    if values["cache_mem_area"] == values["arena_mem_area"]:
        return 0
    if "arena_cache_size" not in values:
        raise ValueError(
            f"[{section}] has a cache of any size: choose one with an arena_cache_size"
        )
    return int(values["arena_cache_size"])
