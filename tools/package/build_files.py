# SPDX-License-Identifier: Apache-2.0
"""Files for other build systems: each function returns one file's text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tools.version import VERSION


@dataclass(frozen=True)
class PackagedModel:
    """Model of a package.

    Attributes:
      name: of its plan, a name in C.
      arena, weights: bytes in RAM and in flash.
      shares: True if the package's other sharing models use the same arena.
    """

    name: str
    arena: int
    weights: int
    shares: bool


@dataclass(frozen=True)
class SourcePackage:
    """Contents of a package.

    Attributes:
      name: of its only model, else of the image; a name in C.
      models: one or more.
      board: target board of the plans.
      core: as -mcpu names it.
      flags: compiler flags of its C.
      sources: paths of the C files, below the package.
      headers: likewise.
    """

    name: str
    models: Sequence[PackagedModel]
    board: str
    core: str
    flags: Sequence[str]
    sources: Sequence[str]
    headers: Sequence[str]

    @property
    def arena(self) -> int:
        shared = max((model.arena for model in self.models if model.shares), default=0)
        return shared + sum(model.arena for model in self.models if not model.shares)

    @property
    def weights(self) -> int:
        return sum(model.weights for model in self.models)

    @property
    def summary(self) -> str:
        names = ", ".join(model.name for model in self.models)
        what = f"The models {names}" if len(self.models) > 1 else f"The model {names}"
        return f"{what}, planned for the board {self.board} ({self.core})"


def makefile(package: SourcePackage) -> str:
    """Return a file for GNU make that builds a library of the model."""
    return f"""\
# make CC=<compiler> AR=<archiver> gives lib{package.name}.a.
CC = arm-none-eabi-gcc
AR = arm-none-eabi-ar
BUILD = build
FLAGS = {" ".join(package.flags)}

SOURCES := $(shell find src -name '*.c')
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)

$(BUILD)/lib{package.name}.a: $(OBJECTS)
\t$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
\t@mkdir -p $(@D)
\t$(CC) $(FLAGS) $(CFLAGS) -Isrc -c $< -o $@

clean:
\trm -rf $(BUILD)

.PHONY: clean
"""


def cmake(package: SourcePackage) -> str:
    """Return CMakeLists.txt, for `add_subdirectory` and a library to link."""
    files = "\n".join(f"  {path}" for path in package.sources)
    return f"""\
# add_subdirectory(<this folder>), then target_link_libraries(<program> {package.name}).
cmake_minimum_required(VERSION 3.20)
project({package.name} C)

add_library({package.name} STATIC
{files}
)
target_include_directories({package.name} PUBLIC src)
target_compile_features({package.name} PUBLIC c_std_11)
# The core's own flags ({" ".join(package.flags)}) are the toolchain's business.
"""


def zephyr_module(package: SourcePackage) -> str:
    """Return zephyr/module.yml."""
    return f"""\
# {package.summary}.
name: {package.name}
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
"""


def zephyr_cmake(package: SourcePackage) -> str:
    """Return zephyr/CMakeLists.txt."""
    option = f"CONFIG_{package.name.upper()}"
    files = "\n".join(f"    ../{path}" for path in package.sources)
    return f"""\
if({option})
  zephyr_library_named({package.name})
  zephyr_library_sources(
{files}
  )
  zephyr_include_directories(../src)
endif()
"""


def zephyr_kconfig(package: SourcePackage) -> str:
    """Return zephyr/Kconfig."""
    return f"""\
config {package.name.upper()}
\tbool "{package.summary}"
\thelp
\t  Takes {package.arena} bytes of RAM and {package.weights} bytes of flash for weights.
"""


def arduino(package: SourcePackage) -> str:
    """Return library.properties."""
    return f"""\
name={package.name}
version={VERSION}
author=Pilotlight
maintainer=Pilotlight
sentence={package.summary}.
paragraph=Needs {package.arena} bytes of RAM and {package.weights} bytes of flash for weights.
category=Data Processing
url=file:README.md
architectures=*
includes={",".join(f"{model.name}_check.h" for model in package.models)}
"""


def platformio(package: SourcePackage) -> str:
    """Return library.json."""
    fields = {
        "name": package.name,
        "version": VERSION,
        "description": f"{package.summary}.",
        "license": "Apache-2.0",
        "frameworks": "*",
        "platforms": "*",
        "build": {"srcDir": "src", "includeDir": "src", "flags": ["-std=c11"]},
        "examples": [{"name": "check", "base": "examples/check", "files": ["check.ino"]}],
    }
    return json.dumps(fields, indent=1) + "\n"


def pdsc(package: SourcePackage) -> str:
    """Return a CMSIS-Pack's description."""
    files = "\n".join(
        f'        <file category="{kind}" name="{escape(path)}"/>'
        for kind, paths in (("sourceC", package.sources), ("header", package.headers))
        for path in paths
    )
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance"
         xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>Pilotlight</vendor>
  <name>{package.name}</name>
  <description>{escape(package.summary)}</description>
  <url></url>
  <license>LICENSE</license>
  <releases>
    <release version="{VERSION}">As built</release>
  </releases>
  <components>
    <component Cclass="Machine Learning" Cgroup="Model" Csub="{package.name}" Cversion="{VERSION}">
      <description>{escape(package.summary)}</description>
      <files>
        <file category="include" name="src/"/>
{files}
      </files>
    </component>
  </components>
</package>
"""


def _rows(package: SourcePackage) -> str:
    """Return the memory of each model, if there are several."""
    if len(package.models) == 1:
        return ""
    rows = (
        f"| `{model.name}` | {model.arena:,}{', shared' if model.shares else ''} "
        f"| {model.weights:,} |\n"
        for model in package.models
    )
    return "\n| model | bytes of RAM | bytes of weights |\n|---|---|---|\n" + "".join(rows)


def _checks(package: SourcePackage) -> str:
    return "".join(
        f"| `src/{model.name}_check.c` | an input of the model and what it must make of it |\n"
        for model in package.models
    )


def readme(package: SourcePackage) -> str:
    """Return README.md."""
    return f"""\
# {package.name}

{package.summary}: {package.arena:,} bytes of RAM, {package.weights:,} bytes of flash for weights.
It runs on other boards with this core, or one that has its instructions.
C11, no heap, no interpreter.
{_rows(package)}
| | |
|---|---|
| `src/` | the plan, the kernels that it calls, the runtime; the folder is the one include path |
{_checks(package)}| `example_main.c` | runs that; `examples/check` is the same for Arduino |
| `flags.txt` | flags that the C wants |
| `CMakeLists.txt`, `Makefile` | a library |
| `zephyr/` | a module, `CONFIG_{package.name.upper()}` |
| `library.properties`, `library.json` | for Arduino and PlatformIO |
| `Pilotlight.{package.name}.pdsc` | for CMSIS-Pack |

How a model is run is at the top of `src/firmware/runtime/model.h`. Weights are constants in
sections `.rodata.*`, activations lie in `.bss` or are common: any linker script puts them where
they belong.
"""
