/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_MEM_H
#define CT_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Allocation that never returns NULL: when memory runs out, these functions print a
 * message and exit. No other library code exits.
 */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size); /* zeroed */
void *mem_realloc(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* Format a variadic function's arguments after `format`. The caller frees the result. */
#define MEM_VPRINTF(format)                                                              \
	__extension__({                                                                  \
		va_list arguments_;                                                      \
		char *text_;                                                             \
		va_start(arguments_, format);                                            \
		text_ = mem_vprintf(format, arguments_);                                 \
		va_end(arguments_);                                                      \
		text_;                                                                   \
	})

/* Exit as these functions do, after a library that allocates by itself could not. */
_Noreturn void mem_exit(void);

/* As open_memstream(3), whose output would be cut off when memory runs out. */
FILE *mem_stream(char **text, size_t *size);

/* Free a pointer at the end of its block, leaving errno unchanged. Write it in front of a
 * declaration with an initializer. */
#define AUTOFREE __attribute__((cleanup(mem_autofree)))
void mem_autofree(void *pointer);

/*
 * Make room for one more element at the end of an array that holds `count` of `*capacity`
 * elements of `size` bytes. Return the array, which may have moved.
 */
void *mem_grow(void *items, size_t count, size_t *capacity, size_t size);

/* Append an uninitialized element to an array and return a pointer to it. */
#define MEM_NEXT(items, count, capacity)                                                 \
	((items) = mem_grow((items), (count), &(capacity), sizeof(*(items))),            \
	 &(items)[(count)++])

#endif
