# SPDX-License-Identifier: GPL-3.0-or-later

# ct_optional(NAME PURPOSE HEADER LIBRARY...)
#
# A library that the build can do without: used where it is found, unless -DCT_WITH_NAME=OFF.
# Sets CT_HAVE_NAME, and makes the target CT::NAME, which is empty where it is not used.
# Of libraries that a static one needs, those that are there are linked as well.
function(ct_optional name purpose header)
	option(CT_WITH_${name} "${name}, for ${purpose}" ON)
	add_library(CT_${name} INTERFACE)
	add_library(CT::${name} ALIAS CT_${name})
	set(CT_HAVE_${name} OFF)
	if(CT_WITH_${name})
		set(CT_HAVE_${name} ON)
		find_path(${name}_INCLUDE_DIR "${header}")
		mark_as_advanced(${name}_INCLUDE_DIR)
		foreach(library IN LISTS ARGN)
			find_library(${name}_LIBRARY_${library} "${library}")
			mark_as_advanced(${name}_LIBRARY_${library})
			if(NOT ${name}_LIBRARY_${library} OR NOT ${name}_INCLUDE_DIR)
				set(CT_HAVE_${name} OFF)
			endif()
			list(APPEND libraries "${${name}_LIBRARY_${library}}")
		endforeach()
	endif()
	set(CT_HAVE_${name} ${CT_HAVE_${name}} PARENT_SCOPE)
	if(NOT CT_HAVE_${name})
		message(STATUS "without ${name}: ${purpose}")
		return()
	endif()
	target_link_libraries(CT_${name} INTERFACE ${libraries})
	target_include_directories(CT_${name} SYSTEM INTERFACE "${${name}_INCLUDE_DIR}")
endfunction()
