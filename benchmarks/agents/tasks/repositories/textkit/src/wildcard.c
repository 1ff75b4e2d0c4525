/* Patterns as shells have them, in time linear to pattern and text but for the last star. */
#include "wildcard.h"

#include <stddef.h>

int wildcard_match(const char *pattern, const char *text) {
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}
