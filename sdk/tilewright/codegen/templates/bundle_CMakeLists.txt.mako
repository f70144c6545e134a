# ${m.name}: a static library, ${m.cmake}::${m.cmake}. ${m.tool}.
cmake_minimum_required(VERSION 3.16)
project(${m.cmake} C${" ASM" if m.binary else ""})

add_library(${m.cmake} STATIC src/${m.name}.c src/${m.name}_weights.${"S" if m.binary else "c"}
  ${" ".join(f"src/{one}.c" for one in (*(each.name for each in m.networks), *m.more))})
add_library(${m.cmake}::${m.cmake} ALIAS ${m.cmake})
set_target_properties(${m.cmake} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
target_include_directories(${m.cmake} PUBLIC "<%text>$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src></%text>")
% for one in m.networks:
set_source_files_properties(src/${one.name}.c PROPERTIES COMPILE_OPTIONS "${m.cmake_flags}")
% endfor
% if m.binary:
set_source_files_properties(src/${m.name}_weights.S PROPERTIES OBJECT_DEPENDS
  "<%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>/src/${m.name}_weights.bin")
% endif
find_library(${m.upper}_MATH m)
if(${m.upper}_MATH)
  target_link_libraries(${m.cmake} PUBLIC m)
endif()
