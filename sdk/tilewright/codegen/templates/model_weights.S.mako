/* ${m.name}: weights and tables, ${m.constant_bytes} bytes, from ${m.name}_weights.bin. ${m.tool}. */
#include "${m.name}.h"

#if !defined(${m.upper}_BUILD) || ${m.upper}_BUILD != 0x${build}u
#error "this file and ${m.name}.h come of two compilations: compile the network again"
#endif

/* Memory section of the weights, e.g. -D${m.upper}_WEIGHTS_DIRECTIVE='.section .qspi,"a",%progbits'. */
#ifndef ${m.upper}_WEIGHTS_DIRECTIVE
#define ${m.upper}_WEIGHTS_DIRECTIVE .section .rodata.${m.name}_weights,"a",%progbits
#endif

#if defined(__linux__)
    .section .note.GNU-stack,"",%progbits
#endif
    ${m.upper}_WEIGHTS_DIRECTIVE
