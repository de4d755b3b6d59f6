# Helpers that say, in one line, which world a target belongs to.

# g++ 12 sees overlapping copies in its own std::string (-Wrestrict, GCC bug 105329).
set(AUTOPAR_WARNINGS -Wall -Wextra -Wno-unused-parameter -Wno-restrict)
if(AUTOPAR_SANITIZE)
  set(AUTOPAR_SANITIZE_FLAGS -fsanitize=${AUTOPAR_SANITIZE} -fno-omit-frame-pointer -g)
endif()

# autopar_runtime_library(NAME SOURCES... [DEPS ...]): Google-style runtime code, no MLIR on its include path.
function(autopar_runtime_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${AUTOPAR_WARNINGS} ${AUTOPAR_SANITIZE_FLAGS})
  target_link_options(${name} PUBLIC ${AUTOPAR_SANITIZE_FLAGS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# autopar_compiler_library(NAME SOURCES... [DEPS ...] [GENERATED targets]): LLVM-style code against libMLIR.
function(autopar_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;GENERATED" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE ${AUTOPAR_WARNINGS} -fno-rtti -fno-exceptions)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  if(ARG_GENERATED)
    add_dependencies(${name} ${ARG_GENERATED})
  endif()
  if(TARGET autopar_pch AND NOT name STREQUAL autopar_pch)
    target_precompile_headers(${name} REUSE_FROM autopar_pch)
  endif()
endfunction()

# autopar_gtest(NAME SOURCES... [DEPS ...]): one GoogleTest binary, one ctest test.
function(autopar_gtest name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${AUTOPAR_WARNINGS} ${AUTOPAR_SANITIZE_FLAGS})
  target_link_options(${name} PRIVATE ${AUTOPAR_SANITIZE_FLAGS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE AUTOPAR_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# autopar_add_subdirectories(DIRS...): those of them that have a CMakeLists.txt.
macro(autopar_add_subdirectories)
  foreach(dir ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
      add_subdirectory(${dir})
    endif()
  endforeach()
endmacro()
