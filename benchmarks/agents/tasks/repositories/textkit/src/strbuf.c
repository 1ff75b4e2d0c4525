/* Strings that grow. */
#include "strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void strbuf_init(struct strbuf *buffer) {
    buffer->capacity = 16;
    buffer->length = 0;
    buffer->text = malloc(buffer->capacity);
    buffer->text[0] = '\0';
}

void strbuf_free(struct strbuf *buffer) {
    free(buffer->text);
    buffer->text = NULL;
    buffer->length = buffer->capacity = 0;
}

static void reserve(struct strbuf *buffer, size_t extra) {
    size_t needed = buffer->length + extra + 1;
    while (buffer->capacity < needed) buffer->capacity *= 2;
    buffer->text = realloc(buffer->text, buffer->capacity);
}

void strbuf_append(struct strbuf *buffer, const char *text, size_t length) {
    reserve(buffer, length);
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}

void strbuf_puts(struct strbuf *buffer, const char *text) { strbuf_append(buffer, text, strlen(text)); }

void strbuf_putc(struct strbuf *buffer, char letter) { strbuf_append(buffer, &letter, 1); }

void strbuf_trim(struct strbuf *buffer) {
    size_t start = 0;
    while (buffer->length > 0 && isspace((unsigned char)buffer->text[buffer->length - 1])) buffer->length--;
    while (start < buffer->length && isspace((unsigned char)buffer->text[start])) start++;
    memmove(buffer->text, buffer->text + start, buffer->length - start);
    buffer->length -= start;
    buffer->text[buffer->length] = '\0';
}
