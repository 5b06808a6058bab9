# The warnings, code generation and sanitizers this project builds itself with; never exported to a host.
add_library(apiserver_warnings INTERFACE)
target_compile_options(apiserver_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
  # Designated initializers leave out what has a default; that is what they are for.
  -Wno-missing-field-initializers
  # Sources say apiserver::v0::room: clang 14 defines what is in apiserver::room anew.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-inline-namespace-reopened-noninline>
  # g++ 12 warns of its own std::string (GCC bug 105651), of more once that is precompiled.
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>"
  # g++ 13 and 14 take runtime::Value for what owns its items, where it only points to them; what they
  # would find is looked for by tests/tidy (no loop outlives ... that its range needs).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>
  $<$<BOOL:${APISERVER_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # What is too large for a few vector instructions is left to the C library, which knows the CPU. g++
  # would write `rep movsq` and `rep stosq`, which on an Intel Xeon (Sapphire Rapids) copy at two fifths
  # of the speed if the destination is not aligned to 8 bytes.
  target_compile_options(apiserver_warnings INTERFACE
    -mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign)
endif()
if(APISERVER_UNITY)
  # Sources that are included are headers to g++, which then warns of every anonymous namespace.
  target_compile_options(apiserver_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(APISERVER_SANITIZE)
  target_compile_options(apiserver_warnings INTERFACE
    -fsanitize=${APISERVER_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(apiserver_warnings INTERFACE -fsanitize=${APISERVER_SANITIZE})
  if(APISERVER_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The sanitizer cannot see fences; ours are paired with atomics that it does see.
    target_compile_options(apiserver_warnings INTERFACE -Wno-tsan)
    # g++ warns of its own <optional> once that is rewritten.
    target_compile_options(apiserver_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(APISERVER_FUZZ)
  target_compile_options(apiserver_warnings INTERFACE
    -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/.ci/fuzz.ignore)
  # Counts for libFuzzer what is run and compared, which takes a third of a compilation: only for what
  # its targets look at.
  set(APISERVER_COVERAGE -fsanitize=fuzzer-no-link)
endif()
