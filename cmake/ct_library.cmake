# SPDX-License-Identifier: GPL-3.0-or-later

# ct_library(NAME [LINK LIBRARY...] [MAINS PROGRAM...] [HELPERS PROGRAM...])
#
# One static library a folder: every .c in it and in the folders below it, but for
# the mains of its programs, which are built into bin/ of the build tree and installed. Helpers
# are programs that only scripts run; they are next to those.
function(ct_library name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINK;MAINS;HELPERS")
	file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c"
		"${CMAKE_CURRENT_SOURCE_DIR}/*/*.c")
	foreach(main IN LISTS ARG_MAINS ARG_HELPERS)
		list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${main}.c")
	endforeach()
	add_library(${name} STATIC ${sources})
	set_property(GLOBAL APPEND PROPERTY CT_LIBRARIES ${name})
	target_include_directories(${name} PUBLIC
		"${PROJECT_SOURCE_DIR}/lib" "${PROJECT_BINARY_DIR}/lib")
	target_link_libraries(${name} PUBLIC ${ARG_LINK})
	foreach(main IN LISTS ARG_MAINS)
		add_executable(${main} ${main}.c)
		set_property(GLOBAL APPEND PROPERTY CT_PROGRAMS ${main})
		set_target_properties(${main} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
		target_link_libraries(${main} PRIVATE ${name})
		install(TARGETS ${main} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
	endforeach()
	foreach(helper IN LISTS ARG_HELPERS)
		add_executable(${helper} ${helper}.c)
		set_target_properties(${helper} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/clustertrace")
		target_link_libraries(${helper} PRIVATE ${name})
		install(TARGETS ${helper} RUNTIME DESTINATION libexec/clustertrace)
	endforeach()
endfunction()

# ct_embed(VARIABLE FILE): the file as a C string, a line a literal.
function(ct_embed variable file)
	file(READ "${file}" text)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "??" "?\\?" text "${text}") # no trigraphs
	string(REPLACE "\n" "\\n\"\n\"" text "${text}")
	set(${variable} "${text}" PARENT_SCOPE)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
endfunction()
