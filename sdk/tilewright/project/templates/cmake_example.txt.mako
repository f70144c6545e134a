# The example as a program and as a test: where the toolchain file names an emulator, ctest runs it there.
add_executable(${m.cmake}_example main.c)
target_link_libraries(${m.cmake}_example PRIVATE ${m.cmake}::${m.cmake})
add_test(NAME ${m.cmake}_example COMMAND ${m.cmake}_example)
