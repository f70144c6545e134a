/* ${m.name}: ${m.summary}
 * ${m.tool}. Model sha256 ${m.sha256}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef ${m.upper}_H
#define ${m.upper}_H

#include <stddef.h>
#include <stdint.h>
% if m.half:

/* C99 has no half floats, the compiler must bring them. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
% endif

#ifdef __cplusplus
extern "C" {
#endif

/* Results of the functions below. */
#define ${m.upper}_OK 0
#define ${m.upper}_ERROR_NO_ARENA 1 /* built with ${m.upper}_EXTERNAL_ARENA and ${m.name}_init was not called */
#define ${m.upper}_ERROR_ARENA_TOO_SMALL 2
#define ${m.upper}_ERROR_ARENA_MISALIGNED 3

/* Worst-case bytes of each memory, known before flashing. Stack and code are in report.json. */
#define ${m.upper}_ARENA_BYTES ${m.arena_bytes}
#define ${m.upper}_ARENA_ALIGN ${m.align}
#define ${m.upper}_CONSTANT_BYTES ${m.constant_bytes}
% for level in m.levels:
#define ${m.upper}_${level.macro}_BYTES ${level.worst_case}
% endfor

% for word, ports in (("INPUT", m.inputs), ("OUTPUT", m.outputs)):
#define ${m.upper}_${word}_COUNT ${len(ports)}
% for p in ports:
/* ${word.lower()} ${p.index}: ${p.comment} */
#define ${m.upper}_${word}_${p.index}_BYTES ${p.size_bytes}
#define ${m.upper}_${word}_${p.index}_ELEMENTS ${p.elements}
#define ${m.upper}_${word}_${p.index}_RANK ${len(p.shape)}
% for axis, extent in enumerate(p.shape):
#define ${m.upper}_${word}_${p.index}_DIM_${axis} ${extent}
% endfor
% if p.scale is not None:
#define ${m.upper}_${word}_${p.index}_SCALE ${p.scale}
#define ${m.upper}_${word}_${p.index}_ZERO_POINT (${p.zero_point})
% endif
% endfor
% endfor

/* Tells in the field which network an image runs: tool version and model hash. */
extern const char ${m.name}_version[];

#ifdef ${m.upper}_EXTERNAL_ARENA
/* Gives the network its memory: ${m.arena_bytes} bytes, aligned to ${m.align}. Call it before anything else. */
int ${m.name}_init(void *memory, size_t size_bytes);
#endif

% if m.io == "arena":
/* Inputs and outputs live in the arena. An input is dead after its last reader: fill it again before every run. */
% for word, ports in (("input", m.inputs), ("output", m.outputs)):
% for p in ports:
${p.c_type} *${m.name}_${word}_${p.index}(void);
% endfor
% endfor

/* Runs one inference. Returns ${m.upper}_OK or an error code. */
int ${m.name}_run(void);
% else:
/* Runs one inference on the caller's memory. Inputs are not written. Returns ${m.upper}_OK or an error code. */
int ${m.name}_run(${m.run_parameters});
% endif

#ifdef __cplusplus
}
#endif
% if m.half:

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
% endif

#endif
