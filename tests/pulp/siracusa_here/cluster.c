/* Copies are done at once. The cores work one after the other and as late as they may, when their end is waited for; at a
 * sitting they are threads, which begin at the first meeting. The barrier asks the event unit as the chip's does. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "../../../targets/start/neureka.h"
#include "tilewright_cluster.h"

/* What no copy brought is no zero. */
__attribute__((constructor)) static void fill_near_memory(void)
{
    unsigned char there, *page = (unsigned char *)0x10000000;
    for (; mincore(page, 4096, &there) == 0; page += 4096) {
        memset(page, 0xa5, 4096);
    }
}

tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home)
{
    for (const tilewright_copy *copy = copies + first; copy < copies + end; copy++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            unsigned char *near = fast + copy->near + run * copy->bytes;
            unsigned char *far = home[copy->operand] + copy->far + run * copy->stride;
            memcpy(copy->store ? far : near, copy->store ? near : far, copy->bytes);
        }
    }
    return first < end;
}

void tilewright_wait(tilewright_future future) { (void)future; }

static void (*given_function)(const void *work, int core, int cores);
static const void *given_work;

void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work)
{
    given_function = function;
    given_work = work;
}

static pthread_t threads[8];
static pthread_barrier_t here;
static int running;
static __thread int is_core;

static void *be_core(void *number)
{
    is_core = 1;
    given_function(given_work, (int)(intptr_t)number, 8);
    return NULL;
}

void tilewright_barrier(void)
{
    if (!is_core && !running) {
        running = 1;
        (void)pthread_barrier_init(&here, NULL, 9);
        for (intptr_t core = 0; core < 8; core++) {
            (void)pthread_create(&threads[core], NULL, be_core, (void *)core);
        }
    }
    (void)pthread_barrier_wait(&here);
}

void tilewright_end(void)
{
    tw_event_barrier();
    for (int core = 0; core < 8; core++) {
        if (running) {
            (void)pthread_join(threads[core], NULL);
        } else {
            given_function(given_work, core, 8);
        }
    }
    running = 0;
}
