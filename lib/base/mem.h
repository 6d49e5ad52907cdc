/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_MEM_H
#define CT_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Memory that is there or ends the program: running out is the one thing
 * library code exits for, here and nowhere else.
 */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size); /* zeroed */
void *mem_realloc(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* The text of a function's `format` and the arguments after it: for free(). */
#define MEM_VPRINTF(format)                                                              \
	__extension__({                                                                  \
		va_list arguments_;                                                      \
		char *text_;                                                             \
		va_start(arguments_, format);                                            \
		text_ = mem_vprintf(format, arguments_);                                 \
		va_end(arguments_);                                                      \
		text_;                                                                   \
	})

/* Before a pointer that is declared with a value: it is freed where its block ends, and
 * errno is kept. */
#define AUTOFREE __attribute__((cleanup(mem_autofree)))
void mem_autofree(void *pointer);

/*
 * Make room for one more element at the end of a growing array: `items`
 * holds `count` of `*capacity` elements of `size` bytes. Returns the array,
 * moved where it had to.
 */
void *mem_grow(void *items, size_t count, size_t *capacity, size_t size);

/* The same, and the new element counts: where it is, of any content. */
#define MEM_NEXT(items, count, capacity)                                                 \
	((items) = mem_grow((items), (count), &(capacity), sizeof(*(items))),            \
	 &(items)[(count)++])

#endif
