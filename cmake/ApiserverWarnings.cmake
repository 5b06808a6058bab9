# The warnings and sanitizers this project builds itself with; never exported to a host.
add_library(apiserver_warnings INTERFACE)
target_compile_options(apiserver_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wshadow=local
  $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:-Werror>)
if(APISERVER_SANITIZE)
  target_compile_options(apiserver_warnings INTERFACE
    -fsanitize=${APISERVER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(apiserver_warnings INTERFACE -fsanitize=${APISERVER_SANITIZE})
endif()
