# The promise of the README on a machine with nothing but Python: both commands, each twice. What they install is a
# part of the promise, so this image alone needs a network when it runs.
#   docker build -f docker/fresh.Dockerfile --build-arg BASE=ubuntu:24.04 -t tilewright-fresh . && docker run --rm tilewright-fresh
ARG BASE=debian:bookworm
FROM ${BASE}
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
CMD ["bash", "-c", "bash ci/demo && bash ci/demo && bash ci/test && bash ci/test"]
