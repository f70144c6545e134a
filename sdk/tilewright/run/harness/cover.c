/* Writes what the compiler's counters say, a .gcda file for each file of the model; read by gcov. */
#include "harness.h"

#include <gcov.h>
#include <stddef.h>

extern const struct gcov_info *const __start_tw_cover[];
extern const struct gcov_info *const __stop_tw_cover[];

static tw_file tw_cover_file;
static uint32_t tw_cover_used;
static uint64_t tw_cover_memory[2048];

static void tw_named(const char *path, void *none)
{
    const char *name = path;
    (void)none;
    for (; *path != '\0'; path++) {
        if (*path == '/') {
            name = path + 1;
        }
    }
    tw_cover_file = tw_open(name, 1);
}

static void tw_dumped(const void *bytes, unsigned count, void *none)
{
    (void)none;
    if (tw_cover_file == 0 || tw_write(tw_cover_file, bytes, count) != 0) {
        tw_exit(TW_BAD_FILE);
    }
}

static void *tw_allocated(unsigned bytes, void *none)
{
    uint8_t *at = (uint8_t *)tw_cover_memory + tw_cover_used;
    (void)none;
    tw_cover_used += (bytes + 7u) & ~7u;
    return tw_cover_used <= sizeof tw_cover_memory ? at : NULL;
}

void tw_cover(void)
{
    const struct gcov_info *const *info;
    for (info = __start_tw_cover; info < __stop_tw_cover; info++) {
        __gcov_info_to_gcda(*info, tw_named, tw_dumped, tw_allocated, NULL);
        tw_close(tw_cover_file);
    }
}
