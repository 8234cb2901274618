# The tree-sitter grammars as one static library, hone_grammars: pinned sources fetched by
# scripts/fetch_grammars.sh (run here when they are missing), linked with Debian's libtree-sitter. The CUDA
# grammar is a superset of the C++ one, so it reads both.
set(HONE_DEPS "$ENV{HONE_DEPS}" CACHE PATH "Where scripts/fetch_grammars.sh keeps grammar sources")
set(deps "${HONE_DEPS}")
if(NOT deps)
  set(deps "$ENV{XDG_CACHE_HOME}")
  if(NOT deps)
    set(deps "$ENV{HOME}/.cache")
  endif()
  set(deps "${deps}/hone/deps")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env HONE_DEPS=${deps} ${CMAKE_SOURCE_DIR}/scripts/fetch_grammars.sh
                COMMAND_ERROR_IS_FATAL ANY)

find_library(LIBTREESITTER libtree-sitter.a REQUIRED)
set(headers ${CMAKE_BINARY_DIR}/grammars/tree_sitter)
foreach(header alloc.h array.h parser.h ts_assert.h)
  configure_file(${deps}/tree-sitter-0.23.2/tree_sitter/core/lib/src/${header} ${headers}/${header} COPYONLY)
endforeach()
add_library(hone_grammars STATIC
  ${deps}/tree_sitter_python-0.23.6/src/parser.c ${deps}/tree_sitter_python-0.23.6/src/scanner.c
  ${deps}/tree_sitter_cuda-0.21.0/src/parser.c ${deps}/tree_sitter_cuda-0.21.0/src/scanner.c)
target_include_directories(hone_grammars PRIVATE ${CMAKE_BINARY_DIR}/grammars)
# Generated tables gain nothing from more; the default level takes minutes on them.
target_compile_options(hone_grammars PRIVATE -O1 -w)
target_link_libraries(hone_grammars PUBLIC ${LIBTREESITTER})
