name = "${name}_board"
platform = "${name}"
summary = "This machine, as if it were the board"
capabilities = ["fpu", "stdio"]

[memory.flash]
readonly = true

[memory.ram]
size = "256K"

[build]
compilers = ["gcc", "clang"]
compile_flags = ["-O2"]
link_flags = ["-lm"]

[tools]
gcc = "gcc"
clang = "clang"

[run]
simulator = "native"
command = ["{elf}"]
