# SPDX-License-Identifier: Apache-2.0
"""The SPDX 2.3 document of an image: contents, sources, models and tools of the build."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.bootstrap.lock import LockedPackage
from tools.version import VERSION

Fields = dict[str, Any]

_NONE = "NOASSERTION"
_OURS = re.compile(
    r"^(external/[^/]*pilotlight[^/]*/)?(boards/(chips|common)|firmware|kernels)(/|$)"
)
_EXTERNAL = re.compile(r"^external/(?:[^/]*[~+])?([^/~+]+)")
_MONOCYPHER = "BSD-2-Clause OR CC0-1.0"
_LICENCE_LINE = re.compile(r"SPDX-License-Identifier: ([\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*)")
_NEWLIB = re.compile(r"^lib(c|m|g|nosys|rdimon|c_nano|g_nano|rdimon_nano)\.a$|^crt0\.o$")
_GCC = re.compile(r"^libgcc\.a$|^crt(i|n|begin|end)\.o$")
_CXX = re.compile(r"^lib(stdc\+\+|supc\+\+)(_nano)?\.a$")

GCC_RUNTIME = "GPL-3.0-or-later WITH GCC-exception-3.1"
NEWLIB = "LicenseRef-newlib"

_COMPILER = {"gcc-arm-none-eabi": "GPL-3.0-or-later", "libnewlib-arm-none-eabi": NEWLIB}

_NEWLIB_TEXT = (
    "newlib is a collection of files under BSD, MIT and similar licences. The toolchain's file "
    "COPYING.NEWLIB has all of them."
)


@dataclass(frozen=True)
class Tool:
    """Program or library used in the image's build, without code in the image."""

    name: str
    version: str
    licence: str = _NONE
    sha256: str = ""
    purl: str = ""


@dataclass(frozen=True)
class SbomImage:
    """Image described by the document.

    Attributes:
      name: the image's label.
      size: its size.json.
      files: the program and its forms; the first is the ELF.
      sources: C sources of its plans, kernels and runtime, by the names to show.
      models: its .pte files.
      compiler: the compiler's text in the ELF (.comment).
    """

    name: str
    size: Fields
    files: Sequence[Path]
    sources: Mapping[str, Path]
    models: Sequence[Path]
    compiler: str


@dataclass
class _Document:
    packages: list[Fields] = field(default_factory=list)
    files: list[Fields] = field(default_factory=list)
    relationships: list[Fields] = field(default_factory=list)

    def relate(self, one: str, kind: str, other: str) -> None:
        self.relationships.append(
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
        )

    def package(self, name: str, licence: str = _NONE, version: str = "", **more: Any) -> str:
        """Add a package; return its id."""
        identifier = _identifier("Package", name)
        fields = {
            "SPDXID": identifier,
            "name": name,
            **({"versionInfo": version} if version else {}),
            "downloadLocation": _NONE,
            "filesAnalyzed": False,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": _NONE,
        }
        self.packages.append(fields | {key: value for key, value in more.items() if value})
        return identifier

    def file(self, name: str, path: Path) -> str:
        """Add a file; return its id."""
        data = path.read_bytes()
        found = _LICENCE_LINE.search(data[:400].decode(errors="replace"))
        licence = found[1] if found else _NONE
        identifier = _identifier("File", name)
        self.files.append(
            {
                "SPDXID": identifier,
                "fileName": f"./{name}",
                "checksums": [
                    {"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                    _sha256(hashlib.sha256(data).hexdigest()),
                ],
                "licenseConcluded": licence,
                "licenseInfoInFiles": [licence],
                "copyrightText": _NONE,
            }
        )
        return identifier


def _identifier(kind: str, name: str) -> str:
    """Return an id. A digest separates two names with different special characters only."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
    return f"SPDXRef-{kind}-{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _sha256(value: str) -> Fields:
    return {"algorithm": "SHA256", "checksumValue": value}


def _component(origin: str) -> tuple[str, str]:
    """Return name and licence of an object file's component."""
    if _NEWLIB.match(origin):
        return "newlib", NEWLIB
    if _GCC.match(origin):
        return "libgcc", GCC_RUNTIME
    if _CXX.match(origin):
        return "libstdc++", GCC_RUNTIME
    if _OURS.match(origin):
        return "pilotlight", "Apache-2.0"
    if match := _EXTERNAL.match(origin):
        return match[1], _MONOCYPHER if match[1] == "monocypher" else _NONE
    if origin.endswith((".a", ".o")):
        return origin, _NONE
    return "application", _NONE


def components(size: Fields) -> dict[tuple[str, str], Counter[str]]:
    """Return the bytes of each origin in memories, by name and licence of its component."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for memory in size["memories"]:
        for origin, count in memory["by_origin"].items():
            found.setdefault(_component(origin), Counter())[origin] += count
    return found


def _version_of(
    name: str, toolchain: Mapping[str, LockedPackage], versions: Mapping[str, str]
) -> Fields:
    """Return version and checksum of a component, as far as they are known."""
    if name == "pilotlight":
        return {"version": VERSION}
    if name == "monocypher":
        checksums = [_sha256(versions["MONOCYPHER_SHA256"])]
        return {"version": versions["MONOCYPHER_VERSION"], "checksums": checksums}
    debian = {"newlib": "libnewlib-arm-none-eabi", "libgcc": "gcc-arm-none-eabi"}
    package = toolchain.get(debian.get(name, ""))
    if package is None:
        return {}
    return {"version": package.version, "checksums": [_sha256(package.sha256)]}


def _contents(
    image: SbomImage, toolchain: Mapping[str, LockedPackage], versions: Mapping[str, str]
) -> Iterator[tuple[str, str, Fields]]:
    """Yield name, licence and further fields of the image's contents."""
    for (name, licence), origins in sorted(components(image.size).items()):
        rows = ", ".join(f"{origin} {count}" for origin, count in origins.most_common())
        more = _version_of(name, toolchain, versions)
        yield name, licence, more | {"comment": f"bytes in memories: {rows}"}
    for model in image.models:
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        yield f"model {model.name}", _NONE, {"checksums": [_sha256(digest)]}


def document(
    image: SbomImage,
    tools: Sequence[Tool],
    toolchain: Mapping[str, LockedPackage],
    versions: Mapping[str, str],
    manifests: Mapping[str, Path],
    created: datetime,
) -> Fields:
    """Return the document.

    Args:
      image: its subject.
      tools: programs and libraries of the build, without the compiler.
      toolchain: the compiler's packages by name; empty if another compiler built the
        image.
      versions: of tools/versions.env.
      manifests: lock files by the names to show.
      created: date of the document.
    """
    made = _Document()
    digest = hashlib.sha256(image.files[0].read_bytes()).hexdigest()
    main = made.package(
        image.name,
        checksums=[_sha256(digest)],
        packageFileName=image.files[0].name,
        primaryPackagePurpose="FIRMWARE",
        comment=f"for {image.size['board']}, {image.size['core']}; compiler: {image.compiler}",
    )
    made.relate("SPDXRef-DOCUMENT", "DESCRIBES", main)
    for path in image.files:
        made.relate(made.file(path.name, path), "VARIANT_OF", main)
    for name, licence, more in _contents(image, toolchain, versions):
        made.relate(main, "CONTAINS", made.package(name, licence, **more))
    for name, path in sorted(image.sources.items()):
        made.relate(main, "GENERATED_FROM", made.file(name, path))
    compilers = [
        Tool(package.name, package.version, _COMPILER.get(package.name, _NONE), package.sha256)
        for package in toolchain.values()
    ]
    for tool in [*compilers, *tools]:
        purl = {
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": tool.purl,
        }
        identifier = made.package(
            tool.name,
            tool.licence,
            tool.version,
            checksums=[_sha256(tool.sha256)] if tool.sha256 else [],
            externalRefs=[purl] if tool.purl else [],
        )
        made.relate(identifier, "BUILD_TOOL_OF", main)
    for name, path in manifests.items():
        made.relate(made.file(name, path), "DEPENDENCY_MANIFEST_OF", main)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": image.name,
        "documentNamespace": f"urn:pilotlight:sbom:{digest}",
        "creationInfo": {
            "created": created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: pilotlight-{VERSION}"],
        },
        "hasExtractedLicensingInfos": [
            {"licenseId": NEWLIB, "name": "newlib", "extractedText": _NEWLIB_TEXT}
        ],
        "packages": made.packages,
        "files": made.files,
        "relationships": made.relationships,
    }
