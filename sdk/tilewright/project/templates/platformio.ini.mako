; pio run -d examples/platformio -t exec; add an environment for your board.
[env]
lib_deps = symlink://../..

[env:native]
platform = native
build_flags = -lm
