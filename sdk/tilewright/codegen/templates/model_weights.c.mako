/* ${m.name}: weights and tables, ${m.constant_bytes} bytes. ${m.tool}. */
#include "${m.name}.h"

#include "${m.name}_internal.h"

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${m.build}u
#error "this file and ${m.name}.h come of two compilations: compile the network again"
#endif
% if m.needs_math:

#include <math.h>
% endif
% for c in m.constants:

/* ${c.comment} */
${m.upper}_${"WEIGHTS_SECTION const" if c.fixed else "RUNTIME_WEIGHTS_SECTION"} ${c.c_type} ${c.name}[${c.length}] = {
    ${c.text}};
% endfor
% if not m.constants:

/* No constants. */
extern const char ${m.name}_no_weights;
% endif
