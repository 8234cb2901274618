# Precompiled headers: the standard library and fmt, which nearly every file reads. Only headers that never change belong
# here; a file still includes what it uses, so clang-tidy and other compilers see ordinary sources. Rooms share
# one, and so do test programs, which are compiled with other flags and read GoogleTest too.
set(HONE_PRECOMPILED <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdio> <cstring> <deque> <filesystem> <functional>
    <initializer_list> <iosfwd> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map>
    <utility> <variant> <vector> <fmt/format.h>)
# With ccache the default is off: a precompiled header differs from folder to folder, and with it everything compiled after it, so that a second
# clone would find nothing in the cache.
set(default ON)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  set(default OFF)
endif()
option(HONE_PCH "Precompile the headers of the standard library" ${default})

# Several sources of a room are compiled as one: reading our own headers and making the same templates again costs more than the
# code itself. So names in a room's unnamed namespaces are distinct; scripts/run_tidy.py --alone sees to it that each file still
# compiles by itself. Off with ccache, which then knows every file by itself.
option(HONE_UNITY "Compile several sources of a room together" ${default})
# Twelve together: an edit of one source compiles the others of its part again, and more would take longer than twenty seconds. The sanitizer build, which
# nobody edits against, takes thirty (CMakePresets.json): less processor time in all.
set(HONE_TOGETHER 12 CACHE STRING "How many sources of a room are compiled together at most")
# hone_unity(TARGET SOURCES...): in parts of about the same size.
function(hone_unity target)
  list(LENGTH ARGN count)
  math(EXPR parts "(${count} + ${HONE_TOGETHER} - 1) / ${HONE_TOGETHER}")
  math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  # gcc takes the sources for headers, where a type of an unnamed namespace would differ from file to file.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# hone_precompiled(TARGET OWNER HEADERS...): the first target of an owner compiles the headers, the others take them over.
function(hone_precompiled target owner)
  if(NOT HONE_PCH)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
