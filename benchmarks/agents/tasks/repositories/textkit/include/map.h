#ifndef MAP_H
#define MAP_H

#include <stddef.h>

/* A map from text to text with open addressing. */
struct map_entry {
    char *key;
    char *value;
};

struct map {
    struct map_entry *entries;
    size_t capacity;
    size_t used;
};

void map_init(struct map *map);
void map_free(struct map *map);
void map_set(struct map *map, const char *key, const char *value);
const char *map_get(const struct map *map, const char *key);

#endif
