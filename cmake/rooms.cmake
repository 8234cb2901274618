# hone_test_options(TARGET): what all test programs are compiled with.
function(hone_test_options target)
  # gcc 12 at -O3 takes the inactive side of a moved-from variant in a test's temporary for a read.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # Tests run once per build; optimising them costs more than it saves.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  # What a test itself does with pointers is seen by AddressSanitizer; these checks take a third of a test's compile time.
  if(HONE_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
endfunction()

# hone_gtest(TARGET NAME LABEL SECONDS): a test program as one CTest test. A process per case would cost more than most cases,
# above all under the sanitizers. What each case came to is in gtest/NAME.xml of the build folder; ./test counts from there.
function(hone_gtest target name label seconds)
  add_test(NAME ${name} COMMAND ${target} --gtest_output=xml:${CMAKE_BINARY_DIR}/gtest/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${seconds})
  if(name MATCHES "^(golden\\.(replay|population|killed_search)|model|report|process|verdict|evaluation)$")
    set_tests_properties(${name} PROPERTIES COST 50)  # the longest start first
  endif()
endfunction()

# A room is one static library built from src/<name>/*.cpp. Files ending in _test.cpp go into the
# room's test program, hone_<name>_test. A room may use only the rooms named in DEPENDS; the order of
# rooms in src/CMakeLists.txt is the order of data, and tests/check_rooms.py holds includes to it.
#
# OPTIMISE is the compiler's level for the room, -Og by default: most code waits for files, processes and the network, and gcc takes a
# quarter less time for it than for -O1. HOT_SOURCES of such a room compare tensors and are compiled with -O2.
# TOGETHER names sources that read base/json.h in a room where few do: they share one compiler, and the others need not run again when it changes.
function(hone_room name)
  cmake_parse_arguments(ROOM "" "OPTIMISE" "DEPENDS;LIBRARIES;HOT_SOURCES;TOGETHER" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
  list(FILTER sources EXCLUDE REGEX "/templates/")  # what a room writes out, not what it is made of
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(ROOM_TOGETHER)
    list(TRANSFORM ROOM_TOGETHER PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
    list(REMOVE_ITEM sources ${ROOM_TOGETHER})
    list(APPEND sources ${ROOM_TOGETHER})
  endif()
  set(hot_objects)
  if(ROOM_HOT_SOURCES)
    list(TRANSFORM ROOM_HOT_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
    list(REMOVE_ITEM sources ${ROOM_HOT_SOURCES})
    add_library(hone_${name}_hot OBJECT ${ROOM_HOT_SOURCES})
    target_link_libraries(hone_${name}_hot PRIVATE hone_base)
    hone_precompiled(hone_${name}_hot hone_base)
    set(hot_objects $<TARGET_OBJECTS:hone_${name}_hot>)
    if(HONE_UNITY)
      hone_unity(hone_${name}_hot ${ROOM_HOT_SOURCES})
    endif()
  endif()
  add_library(hone_${name} STATIC ${sources} ${hot_objects})
  hone_precompiled(hone_${name} hone_base ${HONE_PRECOMPILED})
  if(ROOM_OPTIMISE)
    target_compile_options(hone_${name} PRIVATE $<$<CONFIG:Release>:${ROOM_OPTIMISE}>)
  else()
    # gcc at -Og takes the empty side of an optional for a read (gcc bug 80635); scripts/run_tidy.py --alone looks for variables without a value.
    target_compile_options(hone_${name} PRIVATE $<$<CONFIG:Release>:-Og> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  target_include_directories(hone_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(hone_${name} PUBLIC hone_${room})
  endforeach()
  target_link_libraries(hone_${name} PUBLIC ${ROOM_LIBRARIES})
  if(HONE_UNITY)
    hone_unity(hone_${name} ${sources})
  endif()
  if(HONE_TESTS AND HONE_UNIT_TESTS AND tests)
    add_executable(hone_${name}_test ${tests})
    hone_precompiled(hone_${name}_test hone_base_test ${HONE_PRECOMPILED} <gtest/gtest.h> <gmock/gmock.h>)
    target_link_libraries(hone_${name}_test PRIVATE hone_${name} GTest::gtest_main GTest::gmock)
    hone_test_options(hone_${name}_test)
    if(HONE_UNITY)
      hone_unity(hone_${name}_test ${tests})
    endif()
    if(HONE_UNITY OR HONE_PCH)
      target_compile_definitions(hone_${name}_test PRIVATE HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    else()
      # Only where it is used: a path in every command would keep ccache from knowing a file again.
      foreach(test IN LISTS tests)
        file(STRINGS ${test} uses REGEX HONE_SOURCE_DIR LIMIT_COUNT 1)
        if(uses)
          set_source_files_properties(${test} PROPERTIES COMPILE_DEFINITIONS HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
        endif()
      endforeach()
    endif()
    hone_gtest(hone_${name}_test ${name} unit 600)
  endif()
endfunction()
