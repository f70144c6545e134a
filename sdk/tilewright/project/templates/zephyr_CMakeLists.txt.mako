# ${m.name} as a Zephyr module: CONFIG_${m.kconfig}=y builds it. ${m.tool}.
if(CONFIG_${m.kconfig})
  zephyr_include_directories(../src)
  zephyr_library_named(${m.zephyr})
  zephyr_library_sources(${" ".join(f"../src/{s}" for s in m.sources)})
% if m.tuning_flags:
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(../src/${m.name}.c PROPERTIES COMPILE_OPTIONS "${";".join(m.tuning_flags)}")
  endif()
% endif
endif()
