# Run by cpack when the files of all packages are in place: adds what Debian wants in each, and strips the
# archives, which CMake does not.
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr)
  set(documents ${folder}/share/doc/${package})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright ${CMAKE_CURRENT_LIST_DIR}/changelog
    DESTINATION ${documents}
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                          WORLD_READ WORLD_EXECUTE)
  if(package STREQUAL apiserver-sample)
    execute_process(COMMAND ${CMAKE_COMMAND} -D program=${folder}/bin/sample-apiserver -D prefix=${folder}
                            -P ${CMAKE_CURRENT_LIST_DIR}/program_texts.cmake COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(GLOB pages ${folder}/share/man/man*/*)
  execute_process(COMMAND ${gzip} -9n ${documents}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE archives ${folder}/lib/*.a)
  if(archives)
    execute_process(COMMAND ${strip} --strip-debug --enable-deterministic-archives
                            --remove-section=.comment --remove-section=.note ${archives}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(GLOB overrides ${CMAKE_CURRENT_LIST_DIR}/${package}.lintian-overrides)
  if(overrides)
    file(INSTALL ${overrides} DESTINATION ${folder}/share/lintian/overrides RENAME ${package})
  endif()
endforeach()
