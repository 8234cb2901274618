# Checks of the house itself: what the binary needs, what ./hone and scripts/setup.sh cost when there is
# nothing to do, and that the room check catches what it should.
function(hone_house_test name script)
  add_test(NAME house.${name} COMMAND bash ${CMAKE_SOURCE_DIR}/tests/end_to_end/${script} ${ARGN})
  set_tests_properties(house.${name} PROPERTIES LABELS e2e TIMEOUT 60 SKIP_RETURN_CODE 77)
endfunction()

hone_house_test(launcher launcher_test.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
hone_house_test(build_progress build_progress_test.sh ${CMAKE_SOURCE_DIR})
hone_house_test(rooms check_rooms_test.sh ${CMAKE_SOURCE_DIR})
hone_house_test(setup setup_test.sh ${CMAKE_SOURCE_DIR})
hone_house_test(setup_torch setup_torch_test.sh ${CMAKE_SOURCE_DIR})
hone_house_test(ptx ptx_test.sh ${CMAKE_SOURCE_DIR})
set_tests_properties(house.ptx PROPERTIES TIMEOUT 300)
# The sanitizers bring their own runtime libraries.
if(TARGET hone AND NOT HONE_SANITIZE)
  hone_house_test(self_contained self_contained_test.sh $<TARGET_FILE:hone>)
  hone_house_test(version version_test.sh ${CMAKE_SOURCE_DIR} $<TARGET_FILE:hone>)
endif()
