# ${m.name}: a static library, ${m.name}::${m.name}. ${m.tool}.
cmake_minimum_required(VERSION 3.16)
project(${m.name} C)

add_library(${m.name} STATIC src/${m.name}.c src/${m.name}_weights.c)
add_library(${m.name}::${m.name} ALIAS ${m.name})
set_target_properties(${m.name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
target_include_directories(${m.name} PUBLIC "<%text>$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src></%text>")
set_source_files_properties(src/${m.name}.c PROPERTIES COMPILE_OPTIONS "${m.cmake_flags}")
find_library(${m.upper}_MATH m)
if(${m.upper}_MATH)
  target_link_libraries(${m.name} PUBLIC <%text>${</%text>${m.upper}_MATH})
endif()
