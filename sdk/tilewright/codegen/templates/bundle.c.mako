/* ${m.name}: ${m.summary}. ${m.tool}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#include "${m.name}.h"

#include "${m.name}_internal.h"

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the networks again"
#endif

/* Memory section of the arena, e.g. -D${m.upper}_ARENA_SECTION='__attribute__((section(".dtcm")))'. */
#ifndef ${m.upper}_ARENA_SECTION
#define ${m.upper}_ARENA_SECTION
#endif

extern const char ${m.name}_version[];
const char ${m.name}_version[] = "${m.tool}; ${m.name}";

% for level in m.levels:
% if level.size is not None:
/* ${level.name}: ${level.worst_case} of ${level.size} bytes. */
typedef char ${m.name}_fits_${level.name}[(${m.upper}_${level.macro}_BYTES <= ${level.size}) ? 1 : -1];
% endif
% endfor
% if m.fast:

/* The buffers of all tiles. */
#ifndef ${m.upper}_${m.fast.macro}_SECTION
#if defined(__GNUC__)
#define ${m.upper}_${m.fast.macro}_SECTION __attribute__((section("${m.fast.section}"), aligned(${m.fast.align})))
#else
#define ${m.upper}_${m.fast.macro}_SECTION
#endif
#endif
${m.upper}_${m.fast.macro}_SECTION unsigned char ${m.fast.name}[${m.fast.size}];
% endif
% if m.settling:

const void *${m.name}_settled;
% endif
% if m.arena_bytes:

#ifdef ${m.upper}_EXTERNAL_ARENA
unsigned char *${m.name}_arena;

int ${m.name}_init(void *memory, size_t size_bytes)
{
    if (memory == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
    if (size_bytes < ${m.upper}_ARENA_BYTES) {
        return ${m.upper}_ERROR_ARENA_TOO_SMALL;
    }
    if ((uintptr_t)memory % ${m.upper}_ARENA_ALIGN != 0) {
        return ${m.upper}_ERROR_ARENA_MISALIGNED;
    }
    ${m.name}_arena = memory;
% if m.settling:
    ${m.name}_settled = NULL;
% endif
    return ${m.upper}_OK;
}
#else
${m.upper}_ARENA_SECTION ${m.upper}_ALIGNED unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
#endif
% endif
% if m.states:

/* Memory section of the state, e.g. -D${m.upper}_STATE_SECTION='__attribute__((section(".retained")))'. */
#ifndef ${m.upper}_STATE_SECTION
#define ${m.upper}_STATE_SECTION
#endif
${m.upper}_STATE_SECTION ${m.upper}_ALIGNED unsigned char ${m.name}_state_memory[${m.upper}_STATE_BYTES];

int ${m.name}_reset(void)
{
% for one in m.stateful:
    (void)${one.name}_reset();
% endfor
    return ${m.upper}_OK;
}

void *${m.name}_state(size_t *size_bytes)
{
    if (size_bytes != NULL) {
        *size_bytes = ${m.upper}_STATE_BYTES;
    }
    return ${m.name}_state_memory;
}
% endif
