# Runs everything that needs no board simulator of a vendor:
#   docker build -f docker/host.Dockerfile -t tilewright-host . && docker run --rm tilewright-host
FROM debian:bookworm
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3 python3-venv \
    gcc g++ libc6-dev clang libclang-rt-dev make cmake binutils valgrind chromium cppcheck zsh fish \
    qemu-system-arm qemu-system-misc \
    gcc-arm-none-eabi picolibc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
    gcc-avr avr-libc simavr \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tilewright
COPY . .
CMD ["bash", "-c", "bash ci/demo && bash ci/test"]
