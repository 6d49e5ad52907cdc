# SPDX-License-Identifier: GPL-3.0-or-later

# ct_optional(NAME PURPOSE HEADER LIBRARY... [STATIC LIBRARY...])
#
# A library that the build can do without: used where it is found, unless -DCT_WITH_NAME=OFF.
# Sets CT_HAVE_NAME and makes the target CT::NAME, which is empty where it is not used. The
# libraries after STATIC are those that it needs when it is linked statically; what one of them
# was built without is not there.
function(ct_optional name purpose header)
	cmake_parse_arguments(PARSE_ARGV 3 ARG "" "" "STATIC")
	option(CT_WITH_${name} "${name}, for ${purpose}" ON)
	add_library(CT_${name} INTERFACE)
	add_library(CT::${name} ALIAS CT_${name})
	set(has "${CT_WITH_${name}}")
	find_path(${name}_INCLUDE_DIR "${header}")
	foreach(library IN LISTS ARG_UNPARSED_ARGUMENTS)
		find_library(${name}_${library} "${library}")
		list(APPEND libraries "${${name}_${library}}")
		if(NOT ${name}_${library} OR NOT ${name}_INCLUDE_DIR)
			set(has OFF)
		endif()
	endforeach()
	set(CT_HAVE_${name} ${has} PARENT_SCOPE)
	if(NOT has)
		message(STATUS "without ${name}: ${purpose}")
		return()
	endif()
	foreach(library IN LISTS ARG_STATIC)
		find_library(${name}_${library} "${library}")
		if(CT_STATIC AND ${name}_${library})
			list(APPEND libraries "${${name}_${library}}")
		elseif(CT_STATIC)
			message(STATUS "no lib${library}.a, which ${name} may have to be linked with")
		endif()
	endforeach()
	target_link_libraries(CT_${name} INTERFACE ${libraries})
	target_include_directories(CT_${name} SYSTEM INTERFACE "${${name}_INCLUDE_DIR}")
endfunction()
