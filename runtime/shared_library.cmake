# libautopar.so: the whole runtime as one shared library, for autopar-run and for applications; and its installation.
set(AUTOPAR_RUNTIME_PARTS autopar_base autopar_machine autopar_schedule autopar_simulator autopar_io autopar_trace
    autopar_device autopar_executor)

# Every part whole, as objects: an application may call what the tools do not. The parts then stand on the link line for
# the libraries that they need; --as-needed leaves out those of which nothing is used.
set(runtime_objects)
foreach(part ${AUTOPAR_RUNTIME_PARTS})
  list(APPEND runtime_objects $<TARGET_OBJECTS:${part}>)
endforeach()
add_library(autopar SHARED autopar.cc ${runtime_objects})
target_compile_options(autopar PRIVATE ${AUTOPAR_WARNINGS} ${AUTOPAR_SANITIZE_FLAGS})
target_compile_definitions(autopar PRIVATE AUTOPAR_VERSION="${PROJECT_VERSION}")
set_target_properties(autopar PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH "$ORIGIN")
target_link_libraries(autopar
  PRIVATE ${AUTOPAR_RUNTIME_PARTS}
  PUBLIC absl::status absl::statusor absl::span absl::strings)
target_compile_features(autopar INTERFACE cxx_std_20)
target_include_directories(autopar INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/autopar>)
# DT_RPATH, not DT_RUNPATH: it also serves the copied libraries, which look for each other.
target_link_options(autopar PRIVATE LINKER:--disable-new-dtags LINKER:--as-needed)
if(AUTOPAR_SANITIZE)
  target_link_options(autopar PRIVATE ${AUTOPAR_SANITIZE_FLAGS})
else()
  target_link_options(autopar PRIVATE LINKER:-z,defs)  # a sanitizer's own symbols would come with the program
endif()

# ---- installation: component `runtime` is all that a machine needs which only runs schedules ----
install(TARGETS autopar EXPORT autopar-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(EXPORT autopar-targets NAMESPACE autopar:: FILE autopar-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/autopar COMPONENT runtime)
include(CMakePackageConfigHelpers)
configure_package_config_file(autopar-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/autopar-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/autopar PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/autopar-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/autopar-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/autopar-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/autopar COMPONENT runtime)
foreach(header autopar.h base/element_type.h base/ids.h device/cuda/cuda_options.h executor/program.h io/compare.h io/npy.h io/tensor.h
    io/tensor_text.h machine/machine.h schedule/checker.h schedule/schedule.h schedule/schedule_file.h
    simulator/simulator.h trace/chrome_trace.h)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/autopar/runtime/${folder} COMPONENT runtime)
endforeach()

# Shared libraries that a base Debian lacks go beside libautopar.so, so that the installed folder can be copied anywhere.
get_target_property(dnnl_location DNNL::dnnl LOCATION)
install(CODE "
  set(library_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
  set(extra_libraries \"${dnnl_location}\")" COMPONENT runtime)
install(SCRIPT copy_libraries.cmake COMPONENT runtime)
