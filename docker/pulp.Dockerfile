# The PULP targets in GVSoC: an image in which the simulator lies already, and what `ci/test` needs beside it:
#   docker build -f docker/pulp.Dockerfile -t tilewright-pulp . && docker run --rm tilewright-pulp
ARG BASE=ghcr.io/pulp-platform/deeploy:main
FROM ${BASE}
# The image has a QEMU of its own in front of its PATH; the tests are for the packaged one.
ENV PATH=/app/install/gvsoc/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3.11 python3.11-venv \
    gcc g++ clang libclang-common-14-dev make cmake binutils valgrind cppcheck zsh fish \
    qemu-system-arm qemu-system-misc \
    gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
    gcc-avr avr-libc simavr \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
CMD ["bash", "-c", "bash ci/test"]
