# west build -b BOARD examples/zephyr
cmake_minimum_required(VERSION 3.20)
get_filename_component(module "<%text>${CMAKE_CURRENT_LIST_DIR}</%text>/../.." ABSOLUTE)
list(APPEND EXTRA_ZEPHYR_MODULES "<%text>${module}</%text>")
set(ZEPHYR_EXTRA_MODULES "<%text>${EXTRA_ZEPHYR_MODULES}</%text>") # its name before release 3.4
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(${m.cmake}_example LANGUAGES C)
target_sources(app PRIVATE src/main.c)
