# The PULP targets in GVSoC: an image in which the simulator lies already, and what `ci/test` needs beside it:
#   docker build -f docker/pulp.Dockerfile -t tilewright-pulp . && docker run --rm --network none tilewright-pulp
# No digest of the base is written here, since none was taken from its registry. It is told by
# `docker buildx imagetools inspect NAME`, and --build-arg BASE=NAME@sha256:... pins it.
ARG BASE=ghcr.io/pulp-platform/deeploy:main
FROM ${BASE}
# The image has a QEMU of its own in front of its PATH; the tests are for the packaged one.
ENV PATH=/app/install/gvsoc/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3.11 python3.11-venv \
    gcc g++ clang libclang-common-14-dev make cmake binutils valgrind cppcheck zsh fish libxml2-utils \
    qemu-system-arm qemu-system-misc \
    gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
    gcc-avr avr-libc simavr libsimavr-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
# From here on nothing needs a network: not `docker run IMAGE`, not `docker run IMAGE tilewright ...`.
RUN bash ci/image /opt/tilewright
ENV PATH=/opt/tilewright/bin:/app/install/gvsoc/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["bash", "-c", "bash ci/test"]
