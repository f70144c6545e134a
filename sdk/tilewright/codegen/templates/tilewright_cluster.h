/* What the generated code asks of a cluster: lists of copies that run by themselves, and work for all cores.
 * The firmware (or a test image) implements the functions; see the targets of the platform. */
#ifndef TILEWRIGHT_CLUSTER_H
#define TILEWRIGHT_CLUSTER_H

#include <stdint.h>

/* `runs` runs of `bytes` bytes: one after the other from byte `near` of the fast memory, every `stride` bytes from
 * byte `far` of `home[operand]`. `store`: from the fast memory, else into it. */
typedef struct {
    uint32_t near;
    uint32_t far;
    uint32_t bytes;
    uint32_t stride;
    uint16_t runs;
    uint8_t operand;
    uint8_t store;
} tilewright_copy;

/* A list of copies under way; 0 is none. At most eight are under way at once. */
typedef int tilewright_future;

/* Start copies [first, end). Tables and `home` stay where they are until the wait. An empty list gives 0. */
tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home);

/* Return when all copies of a list are done; at once for 0. */
void tilewright_wait(tilewright_future future);

/* Have every core call `function(work, core, cores)`. Returns at once; `work` stays where it is until the end. */
void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work);

/* Return when all cores have ended what they began last. */
void tilewright_end(void);

/* Return when all cores and the one that drives them are here: the cores inside of what they began last, the other one
 * between its begin and its end. */
void tilewright_barrier(void);

#endif
