/* Configuration files: [section], key = value, comments with ; or #. */
#include "ini.h"

#include <ctype.h>
#include <string.h>

#define MAX_LINE 512
#define MAX_NAME 64

static char *strip(char *text) {
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) end--;
    *end = '\0';
    return text;
}

static void drop_comment(char *value) {
    for (char *at = value; *at; at++) {
        if ((*at == ';' || *at == '#') && (at == value || isspace((unsigned char)at[-1]))) {
            *at = '\0';
            return;
        }
    }
}

int ini_parse(const char *text, ini_handler handler, void *user) {
    char section[MAX_NAME] = "";
    char line[MAX_LINE];
    for (int number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line) return number;
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + (text[length] == '\n');
        drop_comment(line);
        char *start = strip(line);
        if (*start == '\0') continue;
        if (*start == '[') {
            char *end = strchr(start, ']');
            if (!end || (size_t)(end - start) > sizeof section) return number;
            *end = '\0';
            strcpy(section, strip(start + 1));
            continue;
        }
        char *equals = strchr(start, '=');
        if (!equals) return number;
        *equals = '\0';
        if (handler(user, section, strip(start), strip(equals + 1))) return 0;
    }
    return 0;
}
