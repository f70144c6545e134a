% if m.kit:
/* ${m.name}: memory and constants of its bundle. Not for use by the application. */
% else:
/* ${m.name}: constants shared by ${m.name}.c and ${m.name}_weights.${"S" if m.binary else "c"}. Not for use by the application. */
% endif
#ifndef ${m.upper}_INTERNAL_H
#define ${m.upper}_INTERNAL_H

#include "${m.name}.h"

#include <stdint.h>
% if m.kit:

#include "${m.kit}_internal.h"
% endif

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the network again"
#endif

% if not (m.binary or m.kit):
/* Memory section of the weights, e.g. -D${m.upper}_WEIGHTS_SECTION='__attribute__((section(".qspi")))'. */
#ifndef ${m.upper}_WEIGHTS_SECTION
#define ${m.upper}_WEIGHTS_SECTION
#endif
% endif
% if m.runtime_bytes:

/* Memory section of weights that are updated at run time. */
#ifndef ${m.upper}_RUNTIME_WEIGHTS_SECTION
#define ${m.upper}_RUNTIME_WEIGHTS_SECTION
#endif
% endif

% if not m.kit:
${parts.declarations}\
% endif

#ifdef ${m.upper}_TRACE
/* Called before (phase 0) and after (phase 1) every instruction of the plan; the test bench defines it. */
void ${m.name}_trace(int instruction, int phase);
#endif

#endif
