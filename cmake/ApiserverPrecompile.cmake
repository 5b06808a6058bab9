# apiserver_precompile(<target> <kind> <header>...)
#
# Lets <target> use the precompiled header of its kind, which is made of <header>... when it is first
# asked for: most of a small file's compilation is the standard library's headers, in tests Catch2's
# too. Give it only headers that are not ours, so that no edit makes everything be built anew, and
# targets that are compiled alike. A file still includes what it uses;
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without.
set(APISERVER_STANDARD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cstddef> <cstdint> <deque> <functional> <map>
  <memory> <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant>
  <vector>)

function(apiserver_precompile target kind)
  set(owner apiserver_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(empty ${PROJECT_BINARY_DIR}/precompiled/${kind}.cc)
    file(CONFIGURE OUTPUT ${empty} CONTENT "// Has the precompiled header made.\n")
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${empty})
    # Only what compilers want to be the same wherever the header is used.
    foreach(property IN ITEMS CXX_EXTENSIONS POSITION_INDEPENDENT_CODE CXX_VISIBILITY_PRESET
                              VISIBILITY_INLINES_HIDDEN COMPILE_FEATURES COMPILE_OPTIONS)
      get_target_property(value ${target} ${property})
      if(value)
        set_property(TARGET ${owner} PROPERTY ${property} ${value})
      endif()
    endforeach()
    set_target_properties(${owner} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(${owner} PRIVATE apiserver_warnings)
    # clang writes times into it otherwise, and ccache knows no file again that used it.
    target_compile_options(${owner} PRIVATE -pthread
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_precompile_headers(${owner} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  # -pthread, which defines a macro, comes with some of the third-party targets; -fpch-preprocess is
  # for ccache. g++ collects its garbage so often, left to itself, that a tenth of its time goes there.
  target_compile_options(${target} PRIVATE -pthread
    "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;--param=ggc-min-expand=1000;--param=ggc-min-heapsize=1000000>")
endfunction()
