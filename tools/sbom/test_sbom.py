# SPDX-License-Identifier: Apache-2.0
"""The document obeys SPDX 2.3 and lists the image's contents."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tools.bootstrap.lock import LOCK
from tools.bootstrap.versions import read_versions
from tools.sbom.built_image import python_tools, toolchain_of
from tools.sbom.document import GCC_RUNTIME, NEWLIB, SbomImage, Tool, components, document

_COMPILER = "GCC: (15:14.2.rel1-1) 14.2.1 20241119"
_SIZE = {
    "board": "corstone300",
    "core": "cortex-m55",
    "memories": [
        {
            "name": "flash",
            "by_origin": {
                "app": 900,
                "boards/common": 100,
                "external/_main~tools~monocypher": 80,
                "external/pilotlight~/kernels/conv2d": 700,
                "external/other~/lib": 20,
                "firmware/runtime": 50,
                "libc.a": 40,
                "libgcc.a": 30,
                "vendor.a": 10,
            },
        },
        {"name": "ram", "by_origin": {"app": 5, "libc.a": 2}},
    ],
}


@pytest.fixture
def image(tmp_path: Path) -> SbomImage:
    for name, text in {
        "net.elf": "program",
        "net.hex": ":00",
        "net.pte": "model",
        "a.c": "// SPDX-License-Identifier: Apache-2.0\n",
        "b.c": "int b;\n",
    }.items():
        (tmp_path / name).write_text(text)
    return SbomImage(
        "//app:net",
        _SIZE,
        [tmp_path / "net.elf", tmp_path / "net.hex"],
        {"kernels/a.c": tmp_path / "a.c", "kernels/b.c": tmp_path / "b.c"},
        [tmp_path / "net.pte"],
        _COMPILER,
    )


@pytest.fixture
def made(image: SbomImage) -> dict[str, Any]:
    tools = [Tool("bazel", "7.7.1", "Apache-2.0"), *python_tools()]
    created = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    manifests = {LOCK.name: LOCK}
    return document(image, tools, toolchain_of(_COMPILER), read_versions(), manifests, created)


def _packages(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {package["name"]: package for package in made["packages"]}


def _related(made: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    names = {p["SPDXID"]: p["name"] for p in made["packages"]}
    names |= {f["SPDXID"]: f["fileName"] for f in made["files"]}
    return [
        (names[r["spdxElementId"]], names[r["relatedSpdxElement"]])
        for r in made["relationships"]
        if r["relationshipType"] == kind
    ]


def test_it_obeys_the_format(made: dict[str, Any]) -> None:
    """The rules of SPDX 2.3 for documents, packages, files, relationships, and their ids."""
    assert json.loads(json.dumps(made)) == made
    assert made["spdxVersion"] == "SPDX-2.3" and made["dataLicense"] == "CC0-1.0"
    assert made["creationInfo"]["created"] == "2026-01-02T03:04:05Z"
    assert re.fullmatch(r"Tool: .+-\S+", made["creationInfo"]["creators"][0])
    assert re.fullmatch(r"urn:[^#\s]+", made["documentNamespace"])
    elements = [*made["packages"], *made["files"]]
    ids = [made["SPDXID"], *(element["SPDXID"] for element in elements)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
    known = {one["licenseId"] for one in made["hasExtractedLicensingInfos"]}
    for element in elements:
        assert element["copyrightText"] and element["licenseConcluded"]
        for licence in re.findall(r"LicenseRef-[\w.-]+", element["licenseConcluded"]):
            assert licence in known
        for checksum in element.get("checksums", []):
            length = {"SHA1": 40, "SHA256": 64}[checksum["algorithm"]]
            assert re.fullmatch(rf"[0-9a-f]{{{length}}}", checksum["checksumValue"])
    for package in made["packages"]:
        assert package["name"] and package["downloadLocation"] and not package["filesAnalyzed"]
        for reference in package.get("externalRefs", []):
            assert re.fullmatch(r"pkg:pypi/[\w.-]+@[\w.%-]+", reference["referenceLocator"])
    for file in made["files"]:
        assert file["fileName"].startswith("./")
        assert file["checksums"][0]["algorithm"] == "SHA1" and file["licenseInfoInFiles"]
    files = {file["SPDXID"] for file in made["files"]}
    for relation in made["relationships"]:
        assert relation["spdxElementId"] in ids and relation["relatedSpdxElement"] in ids
        if relation["relationshipType"] == "CONTAINS":  # only for files that were not analysed
            assert relation["relatedSpdxElement"] not in files


def test_it_has_the_contents_of_the_image(made: dict[str, Any], image: SbomImage) -> None:
    assert {other for _, other in _related(made, "CONTAINS")} == {
        "application",
        "libgcc",
        "model net.pte",
        "monocypher",
        "newlib",
        "other",
        "pilotlight",
        "vendor.a",
    }
    packages = _packages(made)
    licences = {name: packages[name]["licenseDeclared"] for name in packages}
    assert licences["newlib"] == NEWLIB and licences["libgcc"] == GCC_RUNTIME
    assert licences["pilotlight"] == "Apache-2.0"
    assert licences["monocypher"] == "BSD-2-Clause OR CC0-1.0"
    assert licences["vendor.a"] == licences["application"] == "NOASSERTION"
    model = hashlib.sha256(b"model").hexdigest()
    assert packages["model net.pte"]["checksums"][0]["checksumValue"] == model
    assert "libc.a 42" in packages["newlib"]["comment"]
    assert set(_related(made, "VARIANT_OF")) == {
        ("./net.elf", "//app:net"),
        ("./net.hex", "//app:net"),
    }
    sources = {f["fileName"]: f["licenseConcluded"] for f in made["files"]}
    assert sources["./kernels/a.c"] == "Apache-2.0"
    assert sources["./kernels/b.c"] == "NOASSERTION"
    assert ("//app:net", "./kernels/a.c") in _related(made, "GENERATED_FROM")


def test_bytes_of_all_origins_are_counted_once() -> None:
    total = sum(sum(m["by_origin"].values()) for m in _SIZE["memories"])  # type: ignore[index, misc]
    assert sum(sum(origins.values()) for origins in components(_SIZE).values()) == total


def test_it_has_the_tools_of_the_build(made: dict[str, Any]) -> None:
    tools = {name for name, _ in _related(made, "BUILD_TOOL_OF")}
    assert {"bazel", "gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "torch"} <= tools
    packages = _packages(made)
    assert packages["gcc-arm-none-eabi"]["checksums"] and packages["newlib"]["checksums"]
    assert packages["executorch"]["licenseDeclared"] == "BSD-3-Clause"
    assert packages["torch"]["externalRefs"][0]["referenceLocator"].startswith("pkg:pypi/torch@")
    assert _related(made, "DEPENDENCY_MANIFEST_OF") == [(f"./{LOCK.name}", "//app:net")]


def test_another_compiler_has_no_locked_packages() -> None:
    assert toolchain_of("GCC: (Arm GNU Toolchain 13.2.Rel1) 13.2.1 20231009") == {}
    assert "gcc-arm-none-eabi" in toolchain_of(_COMPILER)


def test_names_that_differ_in_odd_characters_have_ids_of_their_own(image: SbomImage) -> None:
    size = _SIZE | {"memories": [{"name": "f", "by_origin": {"a+b.a": 1, "a-b.a": 1}}]}
    odd = SbomImage("//a:b", size, image.files, {}, [], "")
    made = document(odd, [], {}, read_versions(), {}, datetime.now().astimezone())
    ids = [package["SPDXID"] for package in made["packages"]]
    assert len(set(ids)) == 3
