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

# A room is one static library built from src/<name>/*.cpp. Files ending in _test.cpp go into the
# room's test program, hone_<name>_test. A room may use only the rooms named in DEPENDS; the order of
# rooms in src/CMakeLists.txt is the order of data, and tests/check_rooms.py holds includes to it.
#
# Rooms whose code is not hot are compiled with -O1: they wait for files, processes and the network. HOT rooms compare
# tensors, parse sources and resample measurements.
function(hone_room name)
  cmake_parse_arguments(ROOM "HOT" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
  list(FILTER sources EXCLUDE REGEX "/templates/")  # what a room writes out, not what it is made of
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  add_library(hone_${name} STATIC ${sources})
  hone_precompiled(hone_${name} hone_base ${HONE_PRECOMPILED})
  if(NOT ROOM_HOT)
    target_compile_options(hone_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_include_directories(hone_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(hone_${name} PUBLIC hone_${room})
  endforeach()
  target_link_libraries(hone_${name} PUBLIC ${ROOM_LIBRARIES})
  if(HONE_UNITY)
    hone_unity(hone_${name} 6)
  endif()
  if(HONE_TESTS AND HONE_UNIT_TESTS AND tests)
    add_executable(hone_${name}_test ${tests})
    hone_precompiled(hone_${name}_test hone_base_test ${HONE_PRECOMPILED} <gtest/gtest.h> <gmock/gmock.h>)
    target_link_libraries(hone_${name}_test PRIVATE hone_${name} GTest::gtest_main GTest::gmock)
    hone_test_options(hone_${name}_test)
    if(HONE_UNITY)
      hone_unity(hone_${name}_test 8)
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
    gtest_discover_tests(hone_${name}_test TEST_PREFIX "${name}." PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()
