# cmake -D prefix=DIR -D compiler=CXX -D source=FILE -D program=FILE -P pkg_config.cmake: builds the
# program with what apiserver.pc says, in `prefix`, and runs it.
set(ENV{PKG_CONFIG_PATH} ${prefix})
execute_process(COMMAND pkg-config --cflags --libs apiserver
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND ${compiler} -std=c++20 -o ${program} ${source} ${flags}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${program} COMMAND_ERROR_IS_FATAL ANY)
