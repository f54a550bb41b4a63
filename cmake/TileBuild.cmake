# How every library, tool and unit test of the project is built: one place for
# flags, include paths and the choice of shared MLIR and LLVM libraries.

set(TILE_LIBRARIES "" CACHE INTERNAL "libraries to install")

# LLVM's package is built without exceptions; a mixed build breaks vtables only
# at run time, so the flag is set for all of ours.
set(TILE_CXX_FLAGS -Wall -Wextra -fno-exceptions)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these, falsely, inside the headers of LLVM and of its own
  # library.
  list(APPEND TILE_CXX_FLAGS -Wno-dangling-pointer -Wno-stringop-overflow
       -Wno-maybe-uninitialized -Wno-array-bounds -Wno-free-nonheap-object)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # ccache wants precompiled headers to be reproducible.
  list(APPEND TILE_CXX_FLAGS "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(TILE_ENABLE_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO
         "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
if(NOT LLVM_ENABLE_ASSERTIONS AND (TILE_ENABLE_ASSERTIONS OR NOT CMAKE_BUILD_TYPE MATCHES "Rel"))
  list(APPEND TILE_CXX_FLAGS
       "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/LibraryStatistics.h>")
endif()
# By it the cache of compiled kernels tells one build from another.
add_link_options(LINKER:--build-id=sha1)
if(TILE_SANITIZERS)
  string(REPLACE ";" "," _sanitizers "${TILE_SANITIZERS}")
  list(APPEND TILE_CXX_FLAGS -fsanitize=${_sanitizers} -fno-omit-frame-pointer
       -fno-sanitize-recover=all -fno-sanitize=vptr)
  add_link_options(-fsanitize=${_sanitizers})
  add_library(TileSanitizerOptions OBJECT "${CMAKE_CURRENT_LIST_DIR}/SanitizerOptions.cpp")
  link_libraries($<TARGET_OBJECTS:TileSanitizerOptions>)
endif()
if(TILE_BUILD_FUZZERS)
  # Coverage in our libraries leads the fuzzer; only its binary links the engine.
  list(APPEND TILE_CXX_FLAGS -fsanitize=fuzzer-no-link)
endif()

# Installed tools find the shared MLIR and LLVM where the built ones did.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

function(tile_target_settings target)
  target_compile_options(${target} PRIVATE ${TILE_CXX_FLAGS})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  # Generated code is not ours to keep free of warnings.
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
endfunction()

# Parsing MLIR's headers is most of a compilation, so the common ones are parsed
# once for all libraries. Only upstream headers: a change of ours must not rebuild
# everything.
function(tile_use_precompiled_headers target)
  if(NOT TILE_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET TilePrecompiledHeaders)
    set(_source "${PROJECT_BINARY_DIR}/precompiled.cpp")
    if(NOT EXISTS "${_source}")
      file(WRITE "${_source}" "// Carries the precompiled headers.\n")
    endif()
    add_library(TilePrecompiledHeaders OBJECT "${_source}")
    tile_target_settings(TilePrecompiledHeaders)
    target_include_directories(TilePrecompiledHeaders SYSTEM PRIVATE
      ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_precompile_headers(TilePrecompiledHeaders PRIVATE
      <mlir/Dialect/Arith/IR/Arith.h>
      <mlir/Dialect/Func/IR/FuncOps.h>
      <mlir/Dialect/Math/IR/Math.h>
      <mlir/Dialect/MemRef/IR/MemRef.h>
      <mlir/Dialect/SCF/IR/SCF.h>
      <mlir/Dialect/Vector/IR/VectorOps.h>
      <mlir/IR/PatternMatch.h>
      <mlir/Pass/Pass.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM TilePrecompiledHeaders)
endfunction()

# tile_add_library(NAME SOURCES f.cpp... [LINK lib...] [DEPENDS target...]
#                  [MLIR | LLVM])
# MLIR links the shared MLIR and LLVM libraries, LLVM only the latter; without
# either the library stands alone (Layout, Runtime).
function(tile_add_library name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(Tile::${name} ALIAS ${name})
  tile_target_settings(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    tile_use_precompiled_headers(${name})
  elseif(ARG_LLVM)
    target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC LLVM)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set(TILE_LIBRARIES ${TILE_LIBRARIES} ${name} CACHE INTERNAL "libraries to install")
endfunction()

# tile_add_tool(NAME SOURCES f.cpp... LINK lib...)
function(tile_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tile_target_settings(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  install(TARGETS ${name} EXPORT TileTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# tile_add_unittest(NAME SOURCES f.cpp... LINK lib...): a GoogleTest binary in
# the build's test/unit folder, known to CTest case by case.
function(tile_add_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tile_target_settings(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/unit")
  set_property(GLOBAL APPEND PROPERTY TILE_UNITTESTS ${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
endfunction()
