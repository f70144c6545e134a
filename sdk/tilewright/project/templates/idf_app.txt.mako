# idf.py set-target esp32s3 && idf.py build flash monitor
cmake_minimum_required(VERSION 3.16)
get_filename_component(component "<%text>${CMAKE_CURRENT_LIST_DIR}</%text>/../.." ABSOLUTE)
set(EXTRA_COMPONENT_DIRS "<%text>${component}</%text>")
include($ENV{IDF_PATH}/tools/cmake/project.cmake)
idf_build_set_property(MINIMAL_BUILD ON) # of components only those that the application needs
project(${m.cmake}_example)
