# A release passes the same image by its digest.
ARG BASE=python:3.11.13-slim-bookworm

FROM ${BASE} AS runtime
# git is for the `setup` of a workflow, libgomp1 and libstdc++6 are for llama.cpp. Their versions are not pinned: Debian drops
# one as soon as there is a newer one, and then the image would not build.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git libgomp1 libstdc++6 \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/*

FROM runtime AS builder
WORKDIR /build
COPY scripts/llama_wheel.sh scripts/
COPY scripts/container/dependencies.sh scripts/container/
COPY requirements/*.txt requirements/
# The wheel of llama.cpp, where the context has one that was built before: beside a source that is there, a pattern may match
# nothing.
COPY requirements/llama.txt wheel[s]/ wheels/
RUN scripts/container/dependencies.sh /opt/membench
COPY LICENSE README.md pyproject.toml ./
COPY membench/ membench/
COPY templates/ templates/
COPY scripts/container/package.sh scripts/container/
RUN scripts/container/package.sh /opt/membench

FROM runtime
COPY --from=builder /opt/membench /opt/membench
COPY entrypoint.py /opt/membench/
ENV MEMBENCH_BUNDLED=/opt/membench \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
ARG SOURCE=""
ARG REVISION=""
LABEL org.opencontainers.image.title="membench" \
      org.opencontainers.image.description="Did this change make the agent's memory better or worse?" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.revision="${REVISION}"
# It runs as root, as GitHub demands of a container action: the workspace belongs to another user.
ENTRYPOINT ["/opt/membench/venv/bin/python", "/opt/membench/entrypoint.py"]
