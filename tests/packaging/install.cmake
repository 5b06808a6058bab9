# cmake -D build=FOLDER -D installed=FOLDER -D prefix=FOLDER -P install.cmake: installs the build tree in
# `installed` and moves that to `prefix`.
file(REMOVE_RECURSE ${installed} ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${installed}
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${installed} ${prefix})
