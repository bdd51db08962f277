# SPDX-License-Identifier: Apache-2.0
# The image of workers for --config=remote (docs/scale.md): what actions find on their machine. All
# else, the compilers for boards and QEMU among it, comes with each action as inputs.
#
#     docker build -f tests/scale/worker.Dockerfile -t pilotlight-worker-1 .
#
# Python is to be that of the machine that calls Bazel, to the version: the keys of actions say which
# it is.
FROM debian:bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY tools/python/requirements.txt tools/python/checks.txt /tmp/
# PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS: where torch for the CPU is found (docs/machines.md).
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
RUN cd /opt && mkdir pilotlight && cd pilotlight \
    && environment=$PWD/python-$(sha256sum /tmp/requirements.txt | cut -c-12) \
    && python3 -m venv "$environment" \
    && ln -s "$environment" "python-$(sha256sum /tmp/checks.txt | cut -c-12)" \
    && "$environment/bin/pip" install --no-cache-dir --no-deps --require-hashes \
        -r /tmp/requirements.txt -r /tmp/checks.txt
