# SPDX-License-Identifier: Apache-2.0
# A machine for Pilotlight (docs/machines.md). The tools are not part of it: tools/bazel sets up the
# pinned ones in the cache, which is a volume.
FROM debian:13-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --shell /bin/bash pilotlight \
    && install --directory --owner=pilotlight --group=pilotlight /home/pilotlight/.cache

USER pilotlight
WORKDIR /work
VOLUME /home/pilotlight/.cache
CMD ["/bin/bash"]
