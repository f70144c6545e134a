# ${m.name}: a static library, ${m.cmake}::${m.cmake}. ${m.tool}.
cmake_minimum_required(VERSION 3.16)
% if "esp-idf" in ecosystems:

if(ESP_PLATFORM) # this folder is a component of ESP-IDF
  idf_component_register(SRCS ${" ".join(f'"src/{s}"' for s in m.sources)} INCLUDE_DIRS "src")
% if m.tuning_flags:
  target_compile_options(<%text>${COMPONENT_LIB}</%text> PRIVATE ${" ".join(f'"{flag}"' for flag in m.tuning_flags)})
% endif
  return()
endif()
% endif

project(${m.cmake} VERSION ${m.version} LANGUAGES C${" ASM" if m.weights_file else ""})

add_library(${m.cmake} STATIC ${" ".join(f"src/{s}" for s in m.sources)})
add_library(${m.cmake}::${m.cmake} ALIAS ${m.cmake})
set_target_properties(${m.cmake} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
target_include_directories(${m.cmake} PUBLIC "<%text>$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src></%text>" "$<INSTALL_INTERFACE:include>")
% if m.tuning_flags:
# What the kernels were made for. The core (${" ".join(m.cpu_flags) or "-m..."}) is chosen by your toolchain file.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(src/${m.name}.c PROPERTIES COMPILE_OPTIONS "${";".join(m.tuning_flags)}")
endif()
% endif
% if m.weights_file:
set_source_files_properties(src/${m.name}_weights.S PROPERTIES OBJECT_DEPENDS
  "<%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>/src/${m.weights_file}")
% endif
find_library(${m.upper}_MATH m)
if(${m.upper}_MATH)
  target_link_libraries(${m.cmake} PUBLIC m)
endif()

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR) # built by itself: the example, tests and an installation
% if "cmake" in ecosystems:
  include(CTest)
  add_subdirectory(examples/cmake)
% endif
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(package "<%text>${CMAKE_INSTALL_LIBDIR}</%text>/cmake/${m.cmake}")
  install(TARGETS ${m.cmake} EXPORT ${m.cmake}Config ARCHIVE DESTINATION <%text>${CMAKE_INSTALL_LIBDIR}</%text>)
  install(FILES src/${m.name}.h DESTINATION include)
  install(EXPORT ${m.cmake}Config NAMESPACE ${m.cmake}:: DESTINATION <%text>${package}</%text>)
  write_basic_package_version_file(${m.cmake}ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
  install(FILES "<%text>${CMAKE_CURRENT_BINARY_DIR}</%text>/${m.cmake}ConfigVersion.cmake" DESTINATION <%text>${package}</%text>)
endif()
