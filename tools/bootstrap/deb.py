# SPDX-License-Identifier: Apache-2.0
"""Unpack Debian packages with the standard library alone."""

from __future__ import annotations

import io
import lzma
import os
import re
import tarfile
from pathlib import Path

from tools.bootstrap.report import SetupError

# Older suites have files here. Newer ones have links to the folders below /usr.
MERGED = ("bin", "lib", "lib64", "sbin")
_MERGED = re.compile(rf"^(?:\./)?({'|'.join(MERGED)})(?=/|$)")


def _packed_files(deb: Path) -> tuple[str, bytes]:
    """Return name and content of `data.tar.*`: a .deb is an archive of `ar` with it."""
    with deb.open("rb") as handle:
        if handle.read(8) != b"!<arch>\n":
            raise SetupError(f"{deb.name} is not a Debian package")
        while head := handle.read(60):
            name, size = head[:16].decode().strip().rstrip("/"), int(head[48:58])
            if name.startswith("data.tar"):
                return name, handle.read(size)
            handle.seek(size + size % 2, 1)
    raise SetupError(f"{deb.name} has no data.tar")


def unpack(deb: Path, result: Path) -> None:
    """Unpack a package's files. Files of /bin, /lib and similar folders go below /usr.

    Several threads may unpack into one folder.

    Raises:
        SetupError: Python cannot read the package.
    """
    name, data = _packed_files(deb)
    try:
        # One pass: asking for members in advance would decompress everything twice.
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                _extract(tar, member, result)
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise SetupError(f"{deb.name}: {name}: {error}") from error


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, result: Path) -> None:
    if member.issym() and _MERGED.sub("", member.name) == "":
        return
    member.name = os.path.normpath(_MERGED.sub(r"usr/\1", member.name))
    target = result / member.name
    if ".." in Path(member.name).parts or os.path.isabs(member.name):
        raise SetupError(f"the package has a file {member.name}")
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    # The folder creation of tarfile is not thread-safe.
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        target.unlink()
    if member.issym():
        target.symlink_to(member.linkname)
    elif member.islnk():
        os.link(result / _MERGED.sub(r"usr/\1", member.linkname), target)
    elif member.isreg():
        source = tar.extractfile(member)
        assert source
        with source, target.open("wb") as copy:
            while part := source.read(1 << 20):
                copy.write(part)
        target.chmod((member.mode | 0o400) & 0o777)
        os.utime(target, (member.mtime, member.mtime))
    else:
        raise SetupError(f"the package has a file {member.name} of type {member.type!r}")


def relink_absolute(result: Path) -> None:
    """Turn absolute links to files of the packages into relative ones.

    A linker with --sysroot would follow them to the machine's files.
    """
    for path in result.rglob("*"):
        if not path.is_symlink():
            continue
        target = os.readlink(path)
        inside = result / target.lstrip("/")
        if target.startswith("/") and inside.exists():
            path.unlink()
            path.symlink_to(os.path.relpath(inside, path.parent))
