/* Canonical search for a placement of rectangles (time x address) below a fixed capacity.
 *
 * The idea is that of MiniMalloc (Moffitt, ASPLOS 2023): every placement can be pushed down, so it is enough to try
 * buffers in the order of their offsets, each at the lowest place that the ones below it leave. A branch dies as soon
 * as what is left of some section (a set of buffers alive together) no longer fits above its floor. This file is our
 * own; its twin in Python (canonical_search.py) visits the same nodes.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND = 1, IMPOSSIBLE = 0, STOPPED = 2, NO_MEMORY = 3 };

typedef struct {
    int64_t *where;
    int64_t old;
} change;

typedef struct {
    int64_t offset;
    int32_t rank;
} candidate;

typedef struct {
    int32_t count, sections;
    const int32_t *first, *last; /* sections [first, last) in which a buffer lives */
    const int64_t *size, *align, *highest, *width;
    int64_t capacity;
    int64_t *lowest, *offset;           /* by buffer; offset is -1 while it is not placed */
    int64_t *floor, *total, *crossing;  /* by section; crossing: unplaced buffers that live on in the next one */
    int64_t *stamp, now;
    candidate *queue; /* room to sort the buffers of one section */
    int32_t *rival, *rival_start;   /* by buffer: the buffers that are alive together with it */
    int32_t *member, *member_start; /* by section: the buffers in it */
    change *trail;
    size_t trail_used, trail_room;
    int64_t nodes, work;
    int32_t ranking;
    uint64_t seed;
} search;

static int set(search *s, int64_t *where, int64_t value)
{
    if (s->trail_used == s->trail_room) {
        size_t room = s->trail_room * 2;
        change *grown = realloc(s->trail, room * sizeof *grown);
        if (grown == NULL)
            return 0;
        s->trail = grown;
        s->trail_room = room;
    }
    s->trail[s->trail_used].where = where;
    s->trail[s->trail_used++].old = *where;
    *where = value;
    return 1;
}

static void undo(search *s, size_t mark)
{
    while (s->trail_used > mark) {
        s->trail_used--;
        *s->trail[s->trail_used].where = s->trail[s->trail_used].old;
    }
}

/* Whether the unplaced buffers of a section cannot all end below the capacity: one after the other from `at` on, each
 * not before its lowest place. Raises the floor to the lowest of these places; -1: no memory. */
static int overfull(search *s, int32_t section, int64_t at)
{
    int32_t used = 0;
    int64_t end = at > s->floor[section] ? at : s->floor[section];
    s->work -= s->member_start[section + 1] - s->member_start[section];
    for (int32_t k = s->member_start[section]; k < s->member_start[section + 1]; k++) {
        int32_t b = s->member[k], j = used++;
        if (s->offset[b] >= 0) {
            used--;
            continue;
        }
        for (; j > 0 && s->queue[j - 1].offset > s->lowest[b]; j--)
            s->queue[j] = s->queue[j - 1];
        s->queue[j].offset = s->lowest[b];
        s->queue[j].rank = b;
    }
    if (used > 0 && s->queue[0].offset > s->floor[section] && !set(s, &s->floor[section], s->queue[0].offset))
        return -1;
    for (int32_t k = 0; k < used; k++) {
        end = s->queue[k].offset > end ? s->queue[k].offset : end;
        end += s->size[s->queue[k].rank];
    }
    return end > s->capacity;
}

/* Places a buffer at its lowest place and draws the consequences; 0: dead end, 1: go on, 2: go on, nothing above it,
 * 3: no memory. */
static int put(search *s, int32_t b, int32_t from, int32_t to)
{
    int64_t at = s->lowest[b], top = at + s->size[b];
    int hatless = 1;
    int32_t low = s->first[b], high = s->last[b];
    if (!set(s, &s->offset[b], at))
        return 3;
    for (int32_t t = s->first[b]; t < s->last[b]; t++)
        if (!set(s, &s->floor[t], top) || !set(s, &s->total[t], s->total[t] - s->size[b]))
            return 3;
    for (int32_t t = s->first[b]; t + 1 < s->last[b]; t++)
        if (!set(s, &s->crossing[t], s->crossing[t] - 1))
            return 3;
    for (int32_t t = from; t < to; t++)
        if ((s->floor[t] > at ? s->floor[t] : at) + s->total[t] > s->capacity)
            return 0;
    s->now++;
    for (int32_t k = s->rival_start[b]; k < s->rival_start[b + 1]; k++) {
        int32_t other = s->rival[k];
        int64_t place = top;
        if (s->offset[other] >= 0)
            continue;
        hatless = 0;
        if (s->lowest[other] >= place)
            continue;
        if (place % s->align[other] != 0)
            place += s->align[other] - place % s->align[other];
        if (place > s->highest[other])
            return 0;
        if (!set(s, &s->lowest[other], place))
            return 3;
        for (int32_t t = s->first[other]; t < s->last[other]; t++)
            s->stamp[t] = s->now;
        low = s->first[other] < low ? s->first[other] : low;
        high = s->last[other] > high ? s->last[other] : high;
    }
    for (int32_t t = low; t < high; t++) {
        int full = s->stamp[t] == s->now ? overfull(s, t, at) : 0;
        if (full != 0)
            return full > 0 ? 0 : 3;
    }
    return hatless ? 2 : 1;
}

static int solve_part(search *s, const int32_t *buffers, int32_t count, int32_t from, int32_t to, int64_t least);

static int solve_rest(search *s, const int32_t *order, int32_t count, int32_t b, int32_t from, int32_t to,
                      int64_t least, int32_t least_rank);

static int compare(const void *one, const void *two)
{
    const candidate *a = one, *b = two;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void sort_candidates(candidate *list, int32_t count)
{
    if (count > 64) {
        qsort(list, (size_t)count, sizeof *list, compare);
        return;
    }
    for (int32_t i = 1; i < count; i++) {
        candidate moved = list[i];
        int32_t j = i;
        for (; j > 0 && compare(&list[j - 1], &moved) > 0; j--)
            list[j] = list[j - 1];
        list[j] = moved;
    }
}

/* Depth first over the next buffer from the bottom; `order` holds the part's buffers by rank, placed ones too. */
static int descend(search *s, const int32_t *order, int32_t count, int32_t from, int32_t to, int64_t least,
                   int32_t least_rank)
{
    candidate *open;
    int32_t eligible = 0, unplaced = 0;
    int64_t ceiling = INT64_MAX;
    int status = IMPOSSIBLE;
    if (s->nodes <= 0 || s->work <= 0)
        return STOPPED;
    s->nodes--;
    s->work -= count;
    for (int32_t i = 0; i < count; i++) {
        int32_t b = order[i];
        if (s->offset[b] >= 0)
            continue;
        unplaced++;
        if (s->lowest[b] + s->size[b] < ceiling)
            ceiling = s->lowest[b] + s->size[b];
    }
    if (unplaced == 0)
        return FOUND;
    open = malloc((size_t)unplaced * sizeof *open);
    if (open == NULL)
        return NO_MEMORY;
    /* At the ceiling or above, a buffer would leave room for another one below it: not pushed down. */
    for (int32_t i = 0; i < count; i++) {
        int64_t at = s->lowest[order[i]];
        if (s->offset[order[i]] < 0 && at < ceiling && (at > least || (at == least && i >= least_rank))) {
            open[eligible].offset = at;
            open[eligible++].rank = i;
        }
    }
    sort_candidates(open, eligible);
    for (int32_t i = 0; i < eligible && status == IMPOSSIBLE; i++) {
        int32_t b = order[open[i].rank];
        size_t mark = s->trail_used;
        int outcome = put(s, b, from, to);
        if (outcome == 3)
            status = NO_MEMORY;
        else if (outcome != 0)
            status = solve_rest(s, order, count, b, from, to, open[i].offset, open[i].rank);
        if (status != IMPOSSIBLE)
            break;
        undo(s, mark);
        if (outcome == 2) /* nothing lies above it, so it is not to blame */
            break;
    }
    free(open);
    return status;
}

/* What is left after a buffer was placed, cut at the sections that nothing unplaced crosses any more. */
static int solve_rest(search *s, const int32_t *order, int32_t count, int32_t b, int32_t from, int32_t to,
                      int64_t least, int32_t least_rank)
{
    int32_t begin = from, *chosen;
    int status = FOUND, cut = 0;
    for (int32_t t = s->first[b]; t + 1 < s->last[b]; t++)
        cut |= s->crossing[t] == 0;
    if (!cut)
        return descend(s, order, count, from, to, least, least_rank);
    chosen = malloc(((size_t)count + 1) * sizeof *chosen);
    if (chosen == NULL)
        return NO_MEMORY;
    for (int32_t t = from; t < to && status == FOUND; t++) {
        int32_t found = 0;
        int inner = t >= s->first[b] && t + 1 < s->last[b];
        if (t + 1 < to && !(inner && s->crossing[t] == 0))
            continue;
        for (int32_t i = 0; i < count; i++) {
            int32_t other = order[i];
            if (s->offset[other] < 0 && s->first[other] <= t && s->last[other] > begin)
                chosen[found++] = other;
        }
        if (found > 0)
            status = solve_part(s, chosen, found, begin, t + 1, least);
        begin = t + 1;
    }
    free(chosen);
    return status;
}

typedef struct {
    int64_t key[3];
    int32_t buffer;
} rated;

static int compare_rated(const void *one, const void *two)
{
    const rated *a = one, *b = two;
    for (int k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] > b->key[k] ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* A key of the ranking, by a seed other than 0 raised by up to 5 % so that searches for the same thing differ. */
static int64_t shaken(int64_t key, int32_t b, int k, uint64_t seed)
{
    uint64_t mixed = ((uint64_t)b * 3 + (uint64_t)k + 1) * 0x9E3779B97F4A7C15u ^ seed * 0xD1B54A32D192ED03u;
    if (seed == 0)
        return key;
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u;
    return key * (128 + (int64_t)((mixed ^ mixed >> 32) & 7));
}

/* Ranks the buffers of a part anew (what is left of a section weighs differently now) and searches it. */
static int solve_part(search *s, const int32_t *buffers, int32_t count, int32_t from, int32_t to, int64_t least)
{
    static const int keys[3][3] = {{0, 1, 2}, {2, 1, 0}, {2, 0, 1}}; /* of width, area, total */
    int status = NO_MEMORY;
    rated *list = malloc((size_t)count * sizeof *list);
    int32_t *order = malloc((size_t)count * sizeof *order);
    if (list != NULL && order != NULL) {
        for (int32_t i = 0; i < count; i++) {
            int32_t b = buffers[i];
            int64_t value[3] = {s->width[b], s->width[b] * s->size[b], 0};
            for (int32_t t = s->first[b]; t < s->last[b]; t++)
                value[2] = s->total[t] > value[2] ? s->total[t] : value[2];
            for (int k = 0; k < 3; k++)
                list[i].key[k] = shaken(value[keys[s->ranking][k]], b, k, s->seed);
            list[i].buffer = b;
        }
        qsort(list, (size_t)count, sizeof *list, compare_rated);
        for (int32_t i = 0; i < count; i++)
            order[i] = list[i].buffer;
        status = descend(s, order, count, from, to, least, 0);
    }
    free(list);
    free(order);
    return status;
}

static int prepare(search *s)
{
    size_t count = (size_t)s->count, sections = (size_t)s->sections, members = 0, rivals = 0;
    for (size_t b = 0; b < count; b++)
        members += (size_t)(s->last[b] - s->first[b]);
    s->member_start = calloc(sections + 1, sizeof *s->member_start);
    s->member = malloc((members + 1) * sizeof *s->member);
    s->rival_start = calloc(count + 1, sizeof *s->rival_start);
    if (s->member_start == NULL || s->member == NULL || s->rival_start == NULL)
        return 0;
    members = 0;
    for (int32_t t = 0; t < s->sections; t++) {
        for (int32_t b = 0; b < s->count; b++)
            if (s->first[b] <= t && t < s->last[b])
                s->member[members++] = b;
        s->member_start[t + 1] = (int32_t)members;
    }
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && (s->rival = malloc((rivals + 1) * sizeof *s->rival)) == NULL)
            return 0;
        rivals = 0;
        for (int32_t a = 0; a < s->count; a++) {
            for (int32_t b = 0; b < s->count; b++) {
                if (a == b || s->first[a] >= s->last[b] || s->first[b] >= s->last[a])
                    continue;
                if (pass == 1)
                    s->rival[rivals] = b;
                rivals++;
            }
            s->rival_start[a + 1] = (int32_t)rivals;
        }
    }
    return 1;
}

static int attempt(search *s, const int64_t *lowest)
{
    int32_t *everything = malloc(((size_t)s->count + 1) * sizeof *everything);
    int status;
    if (everything == NULL)
        return NO_MEMORY;
    s->trail_used = 0;
    memset(s->floor, 0, (size_t)s->sections * sizeof *s->floor);
    memset(s->total, 0, (size_t)s->sections * sizeof *s->total);
    memset(s->crossing, 0, (size_t)s->sections * sizeof *s->crossing);
    for (int32_t b = 0; b < s->count; b++) {
        everything[b] = b;
        s->lowest[b] = lowest[b];
        s->offset[b] = -1;
        for (int32_t t = s->first[b]; t < s->last[b]; t++) {
            s->total[t] += s->size[b];
            s->crossing[t] += t + 1 < s->last[b];
        }
    }
    status = solve_part(s, everything, s->count, 0, s->sections, 0);
    free(everything);
    return status;
}

/* Offsets of `count` buffers below `capacity`, all in units. `lowest` and `highest` limit each offset (equal for a
 * pinned buffer). Three rankings take turns, with twice the nodes each round, until `*work` buffers have been looked
 * at; what is left of it is written back. Another `seed` tries another order. Returns FOUND, IMPOSSIBLE (proved), STOPPED or NO_MEMORY. */
int tilewright_canonical(int32_t count, int32_t sections, const int32_t *first, const int32_t *last,
                         const int64_t *size, const int64_t *align, const int64_t *lowest, const int64_t *highest,
                         const int64_t *width, int64_t capacity, uint64_t seed, int64_t *work, int64_t *offsets)
{
    search s = {.count = count, .sections = sections, .first = first, .last = last, .size = size, .align = align,
                .highest = highest, .width = width, .capacity = capacity, .trail_room = 1024, .work = *work, .seed = seed};
    int64_t share = count;
    int status = NO_MEMORY;
    s.lowest = malloc(((size_t)count + 1) * sizeof *s.lowest);
    s.offset = offsets;
    s.floor = malloc(((size_t)sections + 1) * sizeof *s.floor);
    s.total = malloc(((size_t)sections + 1) * sizeof *s.total);
    s.crossing = malloc(((size_t)sections + 1) * sizeof *s.crossing);
    s.queue = malloc(((size_t)count + 1) * sizeof *s.queue);
    s.stamp = calloc((size_t)sections + 1, sizeof *s.stamp);
    s.trail = malloc(s.trail_room * sizeof *s.trail);
    if (s.lowest != NULL && s.floor != NULL && s.total != NULL && s.crossing != NULL && s.stamp != NULL &&
        s.queue != NULL && s.trail != NULL && prepare(&s)) {
        status = STOPPED;
        while (status == STOPPED && s.work > 0) {
            share *= 2;
            for (s.ranking = 0; s.ranking < 3 && status == STOPPED && s.work > 0; s.ranking++) {
                s.nodes = share;
                status = attempt(&s, lowest);
            }
        }
    }
    *work = s.work;
    {
        void *const owned[] = {s.lowest, s.floor, s.total, s.crossing, s.stamp, s.queue, s.trail,
                               s.rival, s.rival_start, s.member, s.member_start};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            free(owned[i]);
    }
    return status;
}
