/* ${m.name}: ${m.summary}
 * ${m.tool}. Model sha256 ${m.sha256}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef ${m.upper}_H
#define ${m.upper}_H

% if m.binary:
/* Which compilation this is: the sources, one of them in assembler, refuse a header of another one. */
#define ${m.upper}_BUILD 0x${build}u

#ifndef __ASSEMBLER__
% endif
#include <stddef.h>
#include <stdint.h>
% if m.halves:

#include "tilewright_halves.h"
% endif

#ifdef __cplusplus
extern "C" {
#endif

% if not m.binary:
/* Which compilation this is: the sources refuse a header of another one. */
#define ${m.upper}_BUILD 0x${build}u

% endif
/* Results of the functions below. */
#define ${m.upper}_OK 0
#define ${m.upper}_ERROR_NO_ARENA 1 /* built with ${m.owner.upper()}_EXTERNAL_ARENA and ${m.owner}_init was not called */
#define ${m.upper}_ERROR_ARENA_TOO_SMALL 2
#define ${m.upper}_ERROR_ARENA_MISALIGNED 3
% if m.slices:
#define ${m.upper}_MORE 12 /* ${m.name}_run_some has more to do */
#define ${m.upper}_ERROR_STEP 13 /* its step is none that it gave */
% endif
#define ${m.upper}_ERROR_NULL_POINTER 10 /* ${m.null_pointers} */
% if m.blobs:
#define ${m.upper}_ERROR_NO_WEIGHTS 4 /* a blob has not been loaded */
#define ${m.upper}_ERROR_WEIGHTS_TOO_SHORT 5
#define ${m.upper}_ERROR_WEIGHTS_DAMAGED 6 /* a checksum differs */
#define ${m.upper}_ERROR_WEIGHTS_FORMAT 7 /* no blob of weights, or one of another version */
#define ${m.upper}_ERROR_WEIGHTS_OTHER_MODEL 8
#define ${m.upper}_ERROR_WEIGHTS_MISALIGNED 9
#define ${m.upper}_ERROR_WEIGHTS_REFUSED 11 /* by ${m.upper}_VERIFY_WEIGHTS */
% endif

/* Worst-case bytes of each memory, known before flashing. Stack and code are in report.json. */
#define ${m.upper}_ARENA_BYTES ${m.arena_bytes}
#define ${m.upper}_ARENA_ALIGN ${m.align}
#define ${m.upper}_CONSTANT_BYTES ${m.constant_bytes}
% for level in m.levels:
#define ${m.upper}_${level.macro}_BYTES ${level.worst_case} /* ${level.parts} */
% endfor

${parts.port_sizes}\

% if m.context:
#if defined(__GNUC__)
#define ${m.upper}_ALIGNED __attribute__((aligned(${m.align})))
#else
#define ${m.upper}_ALIGNED
#endif

/* One instance of the network: the memory of one inference. Weights are shared. Declare as many as you want, in the
 * section that you want, zero at first; two may run at a time where each has its own. */
typedef struct ${m.name}_context {
#ifdef ${m.upper}_EXTERNAL_ARENA
    unsigned char *arena;
#else
    ${m.upper}_ALIGNED unsigned char arena[${max(m.arena_bytes, 1)}];
#endif
% if m.states:
    ${m.upper}_ALIGNED unsigned char state[${m.upper}_STATE_BYTES];
% endif
% for b in m.blobs:
% if b.blob.mapped:
    const unsigned char *blob_${b.blob.index};
% endif
% endfor
} ${m.name}_context;

% endif
% if m.blobs:
/* Weights that are no part of the code. */
#define ${m.upper}_BLOB_COUNT ${len(m.blobs)}
#define ${m.upper}_BLOB_ALIGN ${m.align}
#define ${m.upper}_RUNTIME_WEIGHTS_BYTES ${m.runtime_bytes}
% for b in m.blobs:
/* blob ${b.blob.index}: region '${b.comment}', weights/${b.blob.identifier}.bin, \
${"read where it lies" if b.blob.mapped else "copied into RAM"} */
#define ${m.upper}_BLOB_${b.blob.index}_BYTES ${b.blob.size_bytes}
% endfor

/* Takes the weights of one region from a blob aligned to ${m.align}. A blob that is read where it lies must stay there.
 * Returns ${m.upper}_OK or an error code; then nothing was changed. Not during a run.
 *
 * Checksums find damage, no forgery. The kernels trust the numbers of a blob that was taken: forged ones cannot make
 * them read or write beyond their tensors, but sums may overflow and divisors be zero, which C leaves undefined. Where
 * others can write blobs, sign them and build with -D${m.upper}_VERIFY_WEIGHTS=function. */
int ${m.name}_load_weights(${m.first}const void *blob, size_t size_bytes);

#ifdef ${m.upper}_VERIFY_WEIGHTS
/* The firmware's own function: 0 where the blob is genuine. It is asked last, with what ${m.name}_load_weights was given,
 * so a signature may stand behind the ${m.upper}_BLOB_..._BYTES; unless it says 0 nothing is changed. */
int ${m.upper}_VERIFY_WEIGHTS(const void *blob, size_t size_bytes);
#endif

% endif
% if m.io == "stream":
#ifndef TILEWRIGHT_ROWS
#define TILEWRIGHT_ROWS
/* Where an input comes from. `next` writes the next `count` rows of it to `rows`, each row once and in order: pixels (or
 * frames) beside each other, the channels of each together. It is called during a run, which waits for it. */
typedef struct {
    void (*next)(void *context, void *rows, int count);
    void *context;
} tilewright_rows;
#endif
% for p in m.inputs:
/* input ${p.index} is not resident: so many rows of so many bytes are asked for in every run. */
#define ${m.upper}_INPUT_${p.index}_ROWS ${p.rows}
#define ${m.upper}_INPUT_${p.index}_ROW_BYTES (${m.upper}_INPUT_${p.index}_BYTES / ${p.rows})
#define ${m.upper}_INPUT_${p.index}_PLANES ${p.planes} /* in the model's own order */
% endfor

% endif
/* Tells in the field which network an image runs: tool version and model hash. */
extern const char ${m.name}_version[];

% if not m.kit:
#ifdef ${m.upper}_EXTERNAL_ARENA
/* Gives the network its memory: ${m.arena_bytes} bytes, aligned to ${m.align}. Call it before anything else. */
int ${m.name}_init(${m.first}void *memory, size_t size_bytes);
#endif

% endif
${parts.state_functions}\
% if m.io == "arena":
/* Inputs and outputs live in the arena; without one these are NULL. An input is dead after its last reader: fill it
 * again before every run.\
${"""
 * Another network of the bundle writes over both: read the outputs before it is given its inputs.""" if m.kit else ""} */
${parts.port_functions}\

/* Runs one inference. Returns ${m.upper}_OK or an error code. */
int ${m.name}_run(${m.instance});
% else:
/* Runs one inference on the caller's memory. ${"Inputs are asked for by rows." if m.io == "stream" else "Inputs are not written."} Returns ${m.upper}_OK or an error code. */
int ${m.name}_run(${m.run_parameters});
% endif
% if m.slices:

/* Goes on with an inference: *step is 0 before the first call and is moved on. Returns ${m.upper}_MORE while there is
 * more to do; at the end ${m.upper}_OK, with *step 0 again, or an error code. Up to the end nobody may write to the
 * network's memory, inputs and outputs. The longest of ${len(m.slices)} slices has about ${max(part.instructions for part in m.slices)} instructions, as estimated. */
#define ${m.upper}_SLICES ${len(m.slices)}
int ${m.name}_run_some(${m.slice_parameters});
% endif

#ifdef __cplusplus
}
#endif

% if m.binary:
#endif
% endif
#endif
