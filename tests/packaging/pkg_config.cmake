# cmake -D folder=DIR -D compiler="CXX..." -D flags=FLAGS -D work=DIR -D source=FILE -D component=NAME
#       [-D whole=ON] -P pkg_config.cmake: builds the program with what apiserver-<component>.pc in
# `folder` says, and runs it. With `whole` every object of the component's libraries is linked, so that
# nothing that one of them needs may be missing.
set(ENV{PKG_CONFIG_PATH} ${folder})
function(pkg_config out)
  execute_process(COMMAND pkg-config ${ARGN} apiserver-${component}
    OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  set(${out} ${words} PARENT_SCOPE)
endfunction()

if(component STREQUAL core)
  pkg_config(core --cflags --libs)
  execute_process(COMMAND pkg-config --cflags --libs apiserver
    OUTPUT_VARIABLE both OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(both UNIX_COMMAND "${both}")
  if(NOT both STREQUAL core)
    message(FATAL_ERROR "apiserver.pc says ${both}, apiserver-core.pc ${core}")
  endif()
endif()
pkg_config(cflags --cflags)
pkg_config(libs --libs)
separate_arguments(compiler UNIX_COMMAND "${compiler}")
separate_arguments(flags UNIX_COMMAND "${flags}")
set(program ${work}/pkg_config_${component})
execute_process(COMMAND ${compiler} -std=c++20 ${cflags} -c ${source} -o ${program}.o
  COMMAND_ERROR_IS_FATAL ANY)
set(all "")
if(whole)
  file(STRINGS ${folder}/apiserver-${component}.pc own REGEX "^Libs: ")
  string(REGEX MATCHALL "-lapiserver_[a-z._]+" own "${own}")
  if(NOT own)
    message(FATAL_ERROR "apiserver-${component}.pc names none of our libraries")
  endif()
  set(all -L${folder}/.. -Wl,--whole-archive ${own} -Wl,--no-whole-archive)
endif()
# Without ccache, which has nothing to remember of a link.
list(GET compiler -1 linker)
execute_process(COMMAND ${linker} ${flags} -o ${program} ${program}.o ${all} ${libs}
  COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${program}.data)
execute_process(COMMAND ${program} ${program}.data COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${program} ${program}.o ${program}.data)
