# Runs at installation. Copies what libautopar.so needs, under the names by which it is asked for, except for what every
# Debian has. Set by the caller: library_folder, extra_libraries (opened by name while running).
set(target_folder "$ENV{DESTDIR}${library_folder}")
file(GET_RUNTIME_DEPENDENCIES
  LIBRARIES "${target_folder}/libautopar.so" ${extra_libraries}
  RESOLVED_DEPENDENCIES_VAR dependencies
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libdl\\.so" "^libpthread\\.so" "^librt\\.so"
                      "^libstdc\\+\\+\\.so" "^libgcc_s\\.so" "^libautopar\\.so"
                      "^libasan\\.so" "^libtsan\\.so" "^libubsan\\.so")
if(missing)
  message(FATAL_ERROR "shared libraries that were not found: ${missing}")
endif()
foreach(library ${dependencies} ${extra_libraries})
  # "libdnnl.so.2" is a link to "libdnnl.so.2.6": the contents are copied, the name that programs ask for is kept.
  file(REAL_PATH "${library}" contents)
  execute_process(COMMAND objdump -p "${contents}" OUTPUT_VARIABLE header ERROR_QUIET)
  if(header MATCHES "SONAME +([^ \n]+)")
    set(name "${CMAKE_MATCH_1}")
  else()
    get_filename_component(name "${library}" NAME)
  endif()
  message(STATUS "Installing: ${target_folder}/${name}")
  file(COPY_FILE "${contents}" "${target_folder}/${name}" ONLY_IF_DIFFERENT)
endforeach()
