# SPDX-License-Identifier: Apache-2.0
# The image of workers for --config=remote (docs/scale.md): what actions find on their machine. All
# else, the compilers for boards and QEMU among it, comes with each action as inputs.
#
#     docker build -f tests/scale/worker.Dockerfile -t pilotlight-worker-1 .
#
# Python and GCC are to be those of the machine that calls Bazel, to the version: the keys of actions
# say which they are.
FROM debian:bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends binutils gcc libc6-dev python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY tools/python/requirements.txt /tmp/requirements.txt
# PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS: where torch for the CPU is found (README.md).
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
RUN environment=/opt/pilotlight/python-$(sha256sum /tmp/requirements.txt | cut -c-12) \
    && python3 -m venv "$environment" \
    && "$environment/bin/pip" install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.txt
