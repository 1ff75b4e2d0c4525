/* Maps from text to text. */
#include "map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *key) {
    uint64_t hash = 1469598103934665603u;
    for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return hash;
}

static char *copy_of(const char *text) {
    size_t length = strlen(text) + 1;
    return memcpy(malloc(length), text, length);
}

void map_init(struct map *map) {
    map->capacity = 8;
    map->used = 0;
    map->entries = calloc(map->capacity, sizeof *map->entries);
}

void map_free(struct map *map) {
    for (size_t at = 0; at < map->capacity; at++) {
        free(map->entries[at].key);
        free(map->entries[at].value);
    }
    free(map->entries);
}

static struct map_entry *slot(const struct map *map, const char *key) {
    size_t at = hash_of(key) & (map->capacity - 1);
    while (map->entries[at].key && strcmp(map->entries[at].key, key) != 0) at = (at + 1) & (map->capacity - 1);
    return &map->entries[at];
}

static void grow(struct map *map) {
    struct map old = *map;
    map->capacity *= 2;
    map->entries = calloc(map->capacity, sizeof *map->entries);
    for (size_t at = 0; at < old.capacity; at++) {
        if (old.entries[at].key) *slot(map, old.entries[at].key) = old.entries[at];
    }
    free(old.entries);
}

void map_set(struct map *map, const char *key, const char *value) {
    if ((map->used + 1) * 4 > map->capacity * 3) grow(map);
    struct map_entry *entry = slot(map, key);
    if (!entry->key) {
        entry->key = copy_of(key);
        map->used++;
    }
    char *old = entry->value;
    entry->value = copy_of(value);
    free(old);
}

const char *map_get(const struct map *map, const char *key) { return slot(map, key)->value; }
