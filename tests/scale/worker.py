# SPDX-License-Identifier: Apache-2.0
"""Worker for tests of remote execution: takes leases of a Bots service and runs their commands.

    worker.py ADDRESS FOLDER [--hide=FOLDER ...] [--show=FOLDER=PLACE ...]

Each action has its own folder with its inputs, and nothing else. It runs in a mount namespace with
empty folders for --hide: undeclared inputs are missing. --show mounts a folder there again, like
the worker's image would. Run this program in the environment of requirements.txt.
"""

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as execution
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import (
    bots_pb2,
    bots_pb2_grpc,
    worker_pb2,
)

_CHUNK = 1 << 20
_PROPERTIES = {"OSFamily": "linux", "ISA": "x86-64"}


class Store:
    """The server's blobs; each is fetched once."""

    def __init__(self, channel: grpc.Channel, folder: Path):
        self._blobs = remote_execution_pb2_grpc.ContentAddressableStorageStub(channel)
        self._stream = bytestream_pb2_grpc.ByteStreamStub(channel)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, digest: Any, executable: bool = False) -> Path:
        """Return a blob as a read-only file."""
        path: Path = self._folder / (digest.hash + (".x" if executable else ""))
        if path.exists():
            return path
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            if digest.size_bytes:
                name = f"blobs/{digest.hash}/{digest.size_bytes}"
                request = bytestream_pb2.ReadRequest(resource_name=name)
                for response in self._stream.Read(request):
                    file.write(response.data)
        part.chmod(0o555 if executable else 0o444)
        part.rename(path)
        return path

    def message(self, digest: Any, kind: Any) -> Any:
        return kind.FromString(self.path(digest).read_bytes())

    def put(self, data: bytes) -> Any:
        digest = _digest(data)
        request = execution.FindMissingBlobsRequest(blob_digests=[digest])
        if self._blobs.FindMissingBlobs(request).missing_blob_digests:
            name = f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"
            self._stream.Write(_writes(name, data))
        return digest


def _digest(data: bytes) -> Any:
    return execution.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def _writes(name: str, data: bytes) -> Iterator[Any]:
    for at in range(0, max(len(data), 1), _CHUNK):
        yield bytestream_pb2.WriteRequest(
            resource_name=name,
            write_offset=at,
            data=data[at : at + _CHUNK],
            finish_write=at + _CHUNK >= len(data),
        )


def _lay_out(store: Store, digest: Any, folder: Path) -> None:
    """Create the folder described by a digest, with links to blobs."""
    folder.mkdir(parents=True, exist_ok=True)
    directory = store.message(digest, execution.Directory)
    for file in directory.files:
        os.link(store.path(file.digest, file.is_executable), folder / file.name)
    for link in directory.symlinks:
        os.symlink(link.target, folder / link.name)
    for below in directory.directories:
        _lay_out(store, below.digest, folder / below.name)


def _tree(store: Store, folder: Path, children: list[Any]) -> Any:
    directory = execution.Directory()
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            directory.symlinks.add(name=path.name, target=os.readlink(path))
        elif path.is_dir():
            below = _tree(store, path, children)
            children.append(below)
            directory.directories.add(name=path.name, digest=_digest(below.SerializeToString()))
        else:
            digest = store.put(path.read_bytes())
            executable = os.access(path, os.X_OK)
            directory.files.add(name=path.name, digest=digest, is_executable=executable)
    return directory


class Worker:
    """Worker running one action at a time."""

    def __init__(self, store: Store, folder: Path, hide: list[str], show: list[str]):
        self._store = store
        self._folder = folder
        mounts = []
        places = [one.split("=") for one in show]
        for number, (source, _) in enumerate(places):
            keep = shlex.quote(str(folder / f"shown.{number}"))
            mounts += [f"mkdir -p {keep}", f"mount --bind {shlex.quote(source)} {keep}"]
        # Read only below /, so that no action leaves files for the next one.
        mounts += [f"mount -t tmpfs none {shlex.quote(place)}" for place in hide]
        for number, (_, place) in enumerate(places):
            keep, place = shlex.quote(str(folder / f"shown.{number}")), shlex.quote(place)
            mounts += [f"mkdir -p {place}", f"mount --bind {keep} {place}"]
        # A shell changes PWD, and compilers read it.
        run = 'cd "$0" && pwd=$1 && shift && exec env ${pwd:+PWD="$pwd"} "$@"'
        self._script = " && ".join([*mounts, run])

    def run(self, payload: Any) -> Any:
        """Run an action and return its result.

        Args:
          payload: of a lease: the action, or its digest.
        """
        action, digest = execution.Action(), execution.Digest()
        if not payload.Unpack(action):
            payload.Unpack(digest)
            action = self._store.message(digest, execution.Action)
        command = self._store.message(action.command_digest, execution.Command)
        root = Path(tempfile.mkdtemp(dir=self._folder))
        _lay_out(self._store, action.input_root_digest, root)
        folder = root / command.working_directory
        outputs = [*command.output_paths] or [*command.output_files, *command.output_directories]
        for output in outputs:
            (folder / output).parent.mkdir(parents=True, exist_ok=True)
        environment = {v.name: v.value for v in command.environment_variables}
        start = time.monotonic()
        done = subprocess.run(
            ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
            + ["sh", "-c", self._script, folder, environment.get("PWD", ""), *command.arguments],
            env={"PATH": "/usr/bin:/bin", **environment},
            capture_output=True,
            cwd=folder,
            check=False,
        )
        seconds = time.monotonic() - start
        first = outputs[0] if outputs else "no output"
        print(f"{done.returncode} {seconds:.1f} s {first}", flush=True)
        if done.returncode:
            print(done.stderr.decode(errors="replace")[-2000:], flush=True)
        result = self._result(folder, outputs, done)
        shutil.rmtree(root, ignore_errors=True)
        return result

    def _result(
        self, folder: Path, outputs: list[str], done: "subprocess.CompletedProcess[bytes]"
    ) -> Any:
        result = execution.ActionResult(
            exit_code=done.returncode,
            stdout_digest=self._store.put(done.stdout),
            stderr_digest=self._store.put(done.stderr),
        )
        for output in outputs:
            path = folder / output
            if path.is_dir():
                children: list[Any] = []
                top = _tree(self._store, path, children)
                tree = execution.Tree(root=top, children=children)
                digest = self._store.put(tree.SerializeToString())
                result.output_directories.add(path=output, tree_digest=digest)
            elif path.exists():
                digest = self._store.put(path.read_bytes())
                executable = os.access(path, os.X_OK)
                result.output_files.add(path=output, digest=digest, is_executable=executable)
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hide", action="append", default=[])
    parser.add_argument("--show", action="append", default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    channel = grpc.insecure_channel(options.address)
    store = Store(channel, options.folder / "blobs")
    worker = Worker(store, options.folder, options.hide, options.show)
    bots = bots_pb2_grpc.BotsStub(channel)
    properties = [worker_pb2.Device.Property(key=k, value=v) for k, v in _PROPERTIES.items()]
    device = worker_pb2.Device(handle="0", properties=properties)
    session = bots_pb2.BotSession(
        bot_id=f"bot-{os.getpid()}", status=bots_pb2.OK, worker=worker_pb2.Worker(devices=[device])
    )

    def update() -> Any:
        request = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
        return bots.UpdateBotSession(request, timeout=30)

    request = bots_pb2.CreateBotSessionRequest(parent="", bot_session=session)
    session = bots.CreateBotSession(request, timeout=30)
    while True:
        waiting = [lease for lease in session.leases if lease.state == bots_pb2.PENDING]
        for lease in waiting:
            lease.state = bots_pb2.ACTIVE
        if waiting:
            session = update()
        for lease in session.leases:
            if lease.state == bots_pb2.ACTIVE:
                lease.result.Pack(worker.run(lease.payload))
                lease.state = bots_pb2.COMPLETED
                lease.status.code = 0
        try:
            session = update()
        except grpc.RpcError as error:
            print(error, flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
