/* Serves ${m.name} to 'tilewright run --port' over any stream of bytes. ${m.tool}.
 * This file is generated for you and is yours: no licence notice is asked for.
 *
 * Compile it beside the files in src/, all with -D${m.upper}_TRACE where single layers are to be compared or timed. */
#ifndef ${m.upper}_MONITOR_H
#define ${m.upper}_MONITOR_H

#include "${m.name}.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the longest frame, 32 to 254; the monitor has two such buffers. */
#ifndef ${m.upper}_MONITOR_FRAME
#define ${m.upper}_MONITOR_FRAME 128
#endif

/* What the board brings: the first two functions; any other member may be 0. */
typedef struct {
    int (*read_byte)(void);           /* waits for a byte, 0 to 255; below 0 the stream has ended, and so does the monitor */
    void (*write_byte)(uint8_t byte); /* sends one */
    void (*flush)(void);              /* an answer is complete: for streams that gather bytes, such as USB */
    uint32_t (*cycles)(void);         /* a counter that wraps at 2^32 */
    void (*mark)(int running);        /* 1 right before an inference, 0 right behind: a pin for an energy meter */
    unsigned char *stack_low;         /* lowest byte of the stack that the monitor runs on: it is painted and measured */
} ${m.name}_monitor_port;
% if m.context:

/* The instance that is served. */
extern ${m.name}_context ${m.name}_monitor_context;
% endif

/* Answers until the stream ends. Load weights that are no part of the image before. */
void ${m.name}_monitor(const ${m.name}_monitor_port *board);

#ifdef __cplusplus
}
#endif

#endif
