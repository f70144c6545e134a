/* ${m.name}: weights and tables, ${m.constant_bytes} bytes. ${m.tool}. */
#include "${m.name}.h"

#include "${m.name}_internal.h"

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the network again"
#endif
% if m.needs_math:

#include <math.h>
% endif
% if not m.constants:

/* No constants. */
extern const char ${m.name}_no_weights;
% endif
