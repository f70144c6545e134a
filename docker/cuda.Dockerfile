# The platform cuda with NVIDIA's compiler; with `--gpus all` the figures of the card too:
#   docker build -f docker/cuda.Dockerfile -t tilewright-cuda . && docker run --rm --gpus all tilewright-cuda
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3 python3-venv \
    gcc g++ clang libclang-rt-18-dev make cmake binutils valgrind cppcheck zsh fish \
    qemu-system-arm qemu-system-misc \
    gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
    gcc-avr avr-libc simavr \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
CMD ["bash", "-c", "bash ci/test && bash ci/bench-cuda"]
