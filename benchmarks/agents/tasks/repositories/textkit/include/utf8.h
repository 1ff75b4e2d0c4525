#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

size_t utf8_decode(const char *text, uint32_t *point);
size_t utf8_encode(uint32_t point, char out[4]);
size_t utf8_count(const char *text);

#endif
