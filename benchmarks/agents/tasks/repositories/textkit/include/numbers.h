#ifndef NUMBERS_H
#define NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Reads 12k, 3M, 1G (powers of 1024); returns 0, or -1 for anything else and for what does not fit. */
int parse_size(const char *text, uint64_t *bytes);

/* Writes 1,234,567 into out; returns the letters written. */
size_t format_grouped(int64_t number, char *out, size_t room);

#endif
