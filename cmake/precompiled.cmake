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
