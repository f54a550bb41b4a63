# Draws LAYOUT with TOOL and compares it with the picture EXPECTED of the docs.
execute_process(COMMAND "${TOOL}" "${LAYOUT}" --title "${TITLE}" --svg "${DRAWN}"
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "cannot draw ${LAYOUT}")
endif()
if(UPDATE)
  configure_file("${DRAWN}" "${EXPECTED}" COPYONLY)
  return()
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${DRAWN}" "${EXPECTED}"
                RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "${EXPECTED} is not what tile-layout draws; build the target "
                      "tile-layout-pictures and look at the result")
endif()
