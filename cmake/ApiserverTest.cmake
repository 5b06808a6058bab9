# apiserver_test(<room> SOURCES <file>... [ALONE <file>...] [DEPENDS <room>...] [LINKS <target>...])
#
# Adds the test binary of one room, <room>_test, and one ctest test per test case in it. Tests look
# from outside, but may include private headers of lib/ where a fact cannot be seen otherwise. With
# APISERVER_UNITY up to twenty SOURCES are compiled at a time, in parts of like sizes: most of the
# cost is templates that all of them use, and sixteen take a fifth less than twice eight. Names at
# namespace scope are therefore unique in a room; ALONE are sources whose names are not.
include(ApiserverThirdParty)
apiserver_third_party(Catch2::Catch2 Threads::Threads)
# Tests are written for version 2, which Debian 12 has, and include the one header that it has. The package
# was found in a function, which keeps the version to itself.
find_package(Catch2 QUIET)
set(APISERVER_CATCH2_HEADER <catch2/catch.hpp>)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  set(APISERVER_CATCH2_HEADER <catch2/catch_all.hpp>)
  set(APISERVER_CATCH2_V3 ${PROJECT_SOURCE_DIR}/tests/catch2_v3)
endif()

function(apiserver_precompile_test target)
  apiserver_precompile(${target} tests ${APISERVER_CATCH2_HEADER} ${APISERVER_STANDARD_HEADERS}
    <condition_variable> <filesystem> <fstream> <sstream> <thread>)
endfunction()

# Registers the test cases of <target> with ctest when ctest starts, not when the binary is linked.
function(apiserver_discover_tests target)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_discover.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/ApiserverDiscover.cmake.in ${script}.in @ONLY)
  file(GENERATE OUTPUT ${script} INPUT ${script}.in)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# What UndefinedBehaviorSanitizer judges is the library: its checks take a third of the compilation of
# tests. A library, so that the option stands behind those of apiserver_warnings.
add_library(apiserver_tests_undefined INTERFACE)
if(APISERVER_SANITIZE MATCHES undefined)
  target_compile_options(apiserver_tests_undefined INTERFACE -fno-sanitize=undefined)
endif()

# The code under test is optimized; the tests themselves are only compiled, in half the time, and have no
# line numbers but with sanitizers, which spares a tenth of the rest. Catch2
# makes no try block of each CHECK then: an exception that leaves one ends, and fails, its case.
function(apiserver_compile_as_test target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/tests
    ${APISERVER_CATCH2_V3})
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:RelWithDebInfo,Debug>:-O0> $<$<CONFIG:RelWithDebInfo>:-g0> -DCATCH_CONFIG_FAST_COMPILE)
  if(APISERVER_SANITIZE)
    # As for rooms: a quarter of what a group of tests takes.
    target_compile_options(${target} PRIVATE -fno-sanitize=alignment,null,vptr)
    # g++ 12 warns of its own <regex> and <optional> once a sanitizer has rewritten them.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  target_link_libraries(${target} PUBLIC
    Catch2::Catch2 apiserver_warnings apiserver_tests_undefined Threads::Threads)
endfunction()

add_library(apiserver_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cc)
apiserver_compile_as_test(apiserver_test_main)
# Only here, and not in every test, so that a fresh clone in another folder still hits ccache.
target_compile_definitions(apiserver_test_main PRIVATE
  APISERVER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

function(apiserver_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;ALONE;DEPENDS;LINKS")
  apiserver_third_party(${ARG_LINKS})
  add_executable(${name}_test ${ARG_SOURCES} ${ARG_ALONE} $<TARGET_OBJECTS:apiserver_test_main>)
  list(LENGTH ARG_SOURCES count)
  math(EXPR parts "(${count} + 19) / 20")
  math(EXPR part "(${count} + ${parts} - 1) / ${parts}")
  set_target_properties(${name}_test PROPERTIES
    UNITY_BUILD ${APISERVER_UNITY} UNITY_BUILD_BATCH_SIZE ${part})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  apiserver_compile_as_test(${name}_test)
  apiserver_precompile_test(${name}_test)
  # Relative to the root of the checkout, where the tests' main goes first.
  target_compile_definitions(${name}_test PRIVATE APISERVER_TESTDATA="tests/testdata")
  list(TRANSFORM ARG_DEPENDS PREPEND apiserver::)
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPENDS} ${ARG_LINKS})
  apiserver_discover_tests(${name}_test)
endfunction()
