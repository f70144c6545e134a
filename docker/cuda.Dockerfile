# The platform cuda with NVIDIA's compiler; with `--gpus all` the figures of the card too:
#   docker build -f docker/cuda.Dockerfile -t tilewright-cuda . && docker run --rm --network none --gpus all tilewright-cuda
# No digest of the base is written here, since none was taken from its registry. It is told by
# `docker buildx imagetools inspect NAME`, and --build-arg BASE=NAME@sha256:... pins it.
ARG BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04
FROM ${BASE}
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3 python3-venv \
    gcc g++ clang libclang-rt-18-dev make cmake binutils valgrind cppcheck zsh fish libxml2-utils \
    qemu-system-arm qemu-system-misc \
    gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
    gcc-avr avr-libc simavr libsimavr-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
# From here on nothing needs a network: not `docker run IMAGE`, not `docker run IMAGE tilewright ...`.
RUN bash ci/image /opt/tilewright
ENV PATH=/opt/tilewright/bin:${PATH}
CMD ["bash", "-c", "bash ci/test && bash ci/bench-cuda"]
