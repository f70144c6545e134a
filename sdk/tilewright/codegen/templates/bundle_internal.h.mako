/* ${m.name}: what its networks share. Not for use by the application. */
#ifndef ${m.upper}_INTERNAL_H
#define ${m.upper}_INTERNAL_H

#include "${m.name}.h"

#include <stdint.h>

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the networks again"
#endif

#if defined(__GNUC__)
#define ${m.upper}_ALIGNED __attribute__((aligned(${m.align})))
#else
#define ${m.upper}_ALIGNED
#endif
% if not m.binary:
/* Memory section of the weights, e.g. -D${m.upper}_WEIGHTS_SECTION='__attribute__((section(".qspi")))'. */
#ifndef ${m.upper}_WEIGHTS_SECTION
#define ${m.upper}_WEIGHTS_SECTION
#endif
% endif

% if m.arena_bytes:
#ifdef ${m.upper}_EXTERNAL_ARENA
extern unsigned char *${m.name}_arena;
#else
extern unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
#endif
% endif
% if m.states:
extern unsigned char ${m.name}_state_memory[${m.upper}_STATE_BYTES];
% endif
% if m.fast:
extern unsigned char ${m.fast.name}[${m.fast.size}];
% endif
% if m.settling:
/* The network whose constants lie where its first run has copied them, by a table of its own; NULL for none. */
extern const void *${m.name}_settled;
% endif
% for one in m.constants:
${one.declaration}
% endfor

#endif
