/* Runs p-code once with numbers of which some bits are known, and counts instructions at most and at least.
 *
 * At a branch on an unknown bit all ways are run until they have met; where they do, the larger and the smaller count are
 * taken and what was written is joined. What it cannot follow ends the run with a
 * status. timing/machine.py is what calls it; steps between two pauses are limited, so that it can be interrupted. */
#include "values.h"
#include "machine.h"
#include "memory.h"
#include "operations.h"
#include "forks.h"
#include "regions.h"
#include "control.h"

struct machine *machine_new(void)
{
    return calloc(1, sizeof(struct machine));
}

void machine_free(struct machine *m)
{
    for (int i = 0; i < m->segment_count; i++) {
        free(m->segments[i].bytes);
        free(m->segments[i].known);
        free(m->segments[i].stamp);
        free(m->segments[i].place);
        free(m->segments[i].noted);
    }
    for (int i = 0; i < NESTED && m->regions[i] != NULL; i++) {
        free_region(m->regions[i]);
    }
    free(m->journal);
    free(m);
}

/* Declares memory: constants where `bytes` are given and `known` is not, else memory of which nothing is known. */
int machine_segment(struct machine *m, uint32_t low, uint32_t high, const uint8_t *bytes)
{
    struct segment *s = &m->segments[m->segment_count];
    size_t size = (size_t)high - low;
    if (m->segment_count == SEGMENTS) {
        return 0;
    }
    *s = (struct segment){low, high, calloc(size + 16, 1), NULL, NULL, NULL, NULL};
    m->segment_count++;
    if (s->bytes == NULL) {
        return 0;
    }
    if (bytes != NULL) {
        memcpy(s->bytes, bytes, size);
        return 1;
    }
    s->known = calloc(size + 16, 1);
    s->stamp = calloc(size, sizeof *s->stamp);
    s->place = calloc(size, sizeof *s->place);
    s->noted = calloc(size, sizeof *s->noted);
    return s->known != NULL && s->stamp != NULL && s->place != NULL && s->noted != NULL;
}

/* Makes bytes of memory known; 0 where they are no memory. */
int machine_write(struct machine *m, uint32_t address, const uint8_t *bytes, uint32_t size)
{
    struct segment *s = segment_of(m, address, size);
    if (s == NULL || s->known == NULL) {
        return 0;
    }
    memcpy(s->bytes + (address - s->low), bytes, size);
    memset(s->known + (address - s->low), 255, size);
    return 1;
}

/* Sets all registers unknown, but words that are set afterwards. */
void machine_registers(struct machine *m, uint32_t used)
{
    memset(m->now.unknown, 255, sizeof m->now.unknown);
    m->used = used;
}

void machine_set(struct machine *m, uint32_t place, uint32_t size, uint64_t bits)
{
    put(m, place, size, known(bits));
}

/* Code as it is known now; it may be given again, with more, between two runs. */
void machine_code(struct machine *m, const struct operation *operations, uint32_t count, const uint32_t *places,
                  uint32_t low, uint32_t halves, struct fork_count *forks, uint32_t loops,
                  const struct point *points, const uint32_t *chains, const uint32_t *live)
{
    m->operations = operations;
    m->count = count;
    m->places = places;
    m->code_low = low;
    m->code_halves = halves;
    m->forks = forks;
    m->loop_count = loops;
    m->points = points;
    m->chains = chains;
    m->live = live;
    m->jump_count = 0;
    forget_indices(m);
}

/* Where it is noted which instructions ran; the caller's, for as long as the machine lives. */
void machine_reached(struct machine *m, uint8_t *reached, uint32_t low, uint32_t halves)
{
    m->reached = reached;
    m->reached_low = low;
    m->reached_halves = halves;
}

/* What calls take and leave. */
void machine_convention(struct machine *m, uint32_t arguments, uint32_t stack_pointer, uint32_t link,
                        const uint32_t *clobbered, uint32_t count)
{
    m->arguments = arguments;
    m->stack_pointer = stack_pointer;
    m->link = link;
    m->clobbered = clobbered;
    m->clobbered_count = count;
}

void machine_cycles(struct machine *m, uint32_t refill, uint32_t wait, uint32_t slow_low, uint32_t slow_high)
{
    m->refill = refill;
    m->wait = wait;
    m->slow_low = slow_low;
    m->slow_high = slow_high;
}

/* Runs on from an operation, for about `steps` instructions and in all at most `limit`. */
int machine_run(struct machine *m, uint32_t at, uint64_t steps, uint64_t limit)
{
    int status = setjmp(m->out);
    if (status == 0) {
        m->pause = m->steps + steps;
        m->limit = limit;
        if (m->depth == 0) {
            enter(m, (uint32_t)m->operations[at].a, 0xfffffff0u);
        }
        run(m, at, 1, &m->cost, NULL);
    }
    return status;
}

/* What came of the run, as numbers. */
void machine_answer(const struct machine *m, uint64_t *numbers)
{
    const uint64_t all[] = {
        m->cost.most, m->cost.least, m->cost.most_cycles, m->cost.least_cycles, m->steps, (uint64_t)m->level,
        m->resume, m->address, m->wanted, m->unknown_loads, m->jump_count};
    memcpy(numbers, all, sizeof all);
}

const uint32_t *machine_jumps(const struct machine *m)
{
    return m->jumps;
}

const uint32_t *machine_turns(const struct machine *m)
{
    return m->most_turns;
}

const struct layer_cost *machine_layers(const struct machine *m)
{
    return m->layers;
}
