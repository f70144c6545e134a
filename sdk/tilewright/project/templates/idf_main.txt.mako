# The component is called like the folder that holds it.
get_filename_component(component "<%text>${CMAKE_CURRENT_LIST_DIR}</%text>/../../.." ABSOLUTE)
get_filename_component(component "<%text>${component}</%text>" NAME)
idf_component_register(SRCS "main.c" REQUIRES "<%text>${component}</%text>")
