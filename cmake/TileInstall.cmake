# What `cmake --install` puts down: tools (installed where they are defined),
# headers, the generated ones and the .td files included, static libraries, and
# a package that find_package(Tile) finds.

include(CMakePackageConfigHelpers)
set(TILE_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Tile")

foreach(tree "${PROJECT_SOURCE_DIR}/include/Tile" "${PROJECT_BINARY_DIR}/include/Tile")
  install(DIRECTORY "${tree}" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tile")

install(TARGETS ${TILE_LIBRARIES} EXPORT TileTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT TileTargets NAMESPACE Tile:: DESTINATION ${TILE_PACKAGE_DIR})

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/TileConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/TileConfig.cmake"
  INSTALL_DESTINATION ${TILE_PACKAGE_DIR})
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/cmake/TileConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/TileConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/TileConfigVersion.cmake"
  DESTINATION ${TILE_PACKAGE_DIR})
