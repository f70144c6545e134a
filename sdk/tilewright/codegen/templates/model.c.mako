/* ${m.name}: ${m.summary}
 * ${m.tool}. Model sha256 ${m.sha256}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#include "${m.name}.h"

#include "${m.name}_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>
% if m.half:

/* C99 has no half floats, the compiler must bring them. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
% endif

const char ${m.name}_version[] = "${m.tool}; ${m.name} sha256 ${m.sha256}";

/* Memory section of the arena, e.g. -D${m.upper}_ARENA_SECTION='__attribute__((section(".dtcm")))'. */
#ifndef ${m.upper}_ARENA_SECTION
#define ${m.upper}_ARENA_SECTION
#endif
#if defined(__GNUC__)
#define ${m.upper}_ALIGNED __attribute__((aligned(${m.align})))
#else
#define ${m.upper}_ALIGNED
#endif
#ifdef ${m.upper}_TRACE
#define ${m.upper}_MARK(instruction, phase) ${m.name}_trace(instruction, phase)
#else
#define ${m.upper}_MARK(instruction, phase) ((void)0)
#endif

% for level in m.levels:
% if level.size is not None:
/* ${level.name}: ${level.worst_case} of ${level.size} bytes. */
typedef char ${m.name}_fits_${level.name}[(${m.upper}_${level.macro}_BYTES <= ${level.size}) ? 1 : -1];
% endif
% endfor

% if m.arena_bytes:
#ifdef ${m.upper}_EXTERNAL_ARENA
static unsigned char *${m.name}_arena;

int ${m.name}_init(void *memory, size_t size_bytes)
{
    if (size_bytes < ${m.upper}_ARENA_BYTES) {
        return ${m.upper}_ERROR_ARENA_TOO_SMALL;
    }
    if ((uintptr_t)memory % ${m.upper}_ARENA_ALIGN != 0) {
        return ${m.upper}_ERROR_ARENA_MISALIGNED;
    }
    ${m.name}_arena = memory;
    return ${m.upper}_OK;
}
#else
extern unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
${m.upper}_ARENA_SECTION ${m.upper}_ALIGNED unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
#endif
% else:
#ifdef ${m.upper}_EXTERNAL_ARENA
int ${m.name}_init(void *memory, size_t size_bytes)
{
    (void)memory;
    (void)size_bytes;
    return ${m.upper}_OK;
}
#endif
% endif
% for text in m.sources:

${text}
% endfor
% for text in m.functions:

${text}
% endfor
% if m.io == "arena":
% for word, ports in (("input", m.inputs), ("output", m.outputs)):
% for p in ports:

${p.c_type} *${m.name}_${word}_${p.index}(void)
{
    return ${p.pointer};
}
% endfor
% endfor
% endif

int ${m.name}_run(${m.run_parameters})
{
% if m.arena_bytes:
#ifdef ${m.upper}_EXTERNAL_ARENA
    if (${m.name}_arena == NULL) {
        return ${m.upper}_ERROR_NO_ARENA;
    }
#endif
% endif
% for name in m.unused_parameters:
    (void)${name};
% endfor
% for call in m.calls:
    /* ${call.index}: ${call.comment} */
    ${m.upper}_MARK(${call.index}, 0);
    ${call.function}(${call.arguments});
    ${m.upper}_MARK(${call.index}, 1);
% endfor
    return ${m.upper}_OK;
}
