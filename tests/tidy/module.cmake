# cmake -D modules=DIR -D room=ROOM -D dependency=ROOM -P module.cmake: declares the room as
# lib/<room>/CMakeLists.txt would. What a script cannot do, adding the target, only reports.
cmake_minimum_required(VERSION 3.25)
list(APPEND CMAKE_MODULE_PATH ${modules})
include(ApiserverModule)
function(add_library)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${room} may link ${dependency}")
  message(FATAL_ERROR "enough seen")
endfunction()
apiserver_module(${room} SOURCES one.cc DEPENDS ${dependency})
