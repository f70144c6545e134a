/* ${m.name}: ${m.summary}. ${m.tool}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef ${m.upper}_H
#define ${m.upper}_H

/* Which compilation this is: the sources refuse a header of another one. */
#define ${m.upper}_BUILD 0x${build}u

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

% for one in m.networks:
#include "${one.name}.h"
% endfor

#ifdef __cplusplus
extern "C" {
#endif

/* Results of the functions below. */
#define ${m.upper}_OK 0
#define ${m.upper}_ERROR_ARENA_TOO_SMALL 2
#define ${m.upper}_ERROR_ARENA_MISALIGNED 3
#define ${m.upper}_ERROR_NULL_POINTER 10 /* the memory given to init is NULL */

/* Worst-case bytes of each memory for all networks together. Stack and code are in report.json. */
#define ${m.upper}_ARENA_BYTES ${m.arena_bytes}
#define ${m.upper}_ARENA_ALIGN ${m.align}
#define ${m.upper}_STATE_BYTES ${m.state_bytes}
#define ${m.upper}_CONSTANT_BYTES ${m.constant_bytes}
% for level in m.levels:
#define ${m.upper}_${level.macro}_BYTES ${level.worst_case} /* ${level.parts} */
% endfor

/* The arena of each network begins here in the common one. Two whose bytes overlap must not run at a time, and each
 * overwrites the inputs and outputs of the other. */
% for one, base in zip(m.networks, m.bases):
#define ${one.upper}_ARENA_OFFSET ${base} /* ${one.arena_bytes} bytes */
% endfor
% for a, b in m.concurrent:
/* ${a} may run while ${b} does. */
% endfor
% if m.states:

/* What lives from call to call. */
% for one in m.states:
/* ${one.comment} */
#define ${m.upper}_STATE_${one.index}_OFFSET ${one.offset}
#define ${m.upper}_STATE_${one.index}_BYTES ${one.size_bytes}
% endfor

/* Gives every state the values with which a sequence begins. Returns ${m.upper}_OK. Not during a run. */
int ${m.name}_reset(void);

/* All states and, where wanted, their bytes: save them after a run and put them back before another one, of the same
 * compilation, to go on from there. */
void *${m.name}_state(size_t *size_bytes);
% endif
% if m.arena_bytes:

#ifdef ${m.upper}_EXTERNAL_ARENA
/* Gives the networks their memory: ${m.arena_bytes} bytes, aligned to ${m.align}. Call it before anything else. */
int ${m.name}_init(void *memory, size_t size_bytes);
#endif
% endif

#ifdef __cplusplus
}
#endif

#endif
#endif
