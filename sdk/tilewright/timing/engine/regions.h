/* Ways of branches on data, run until all of them have met. Part of machine.c.
 *
 * The first such branch opens a region. Ways stop where several come in: there the one that is least far on, by turns of
 * loops and order of places, runs on, and what comes to the same place in the same turn is joined. An early end of a loop
 * so waits behind the loop while the loop goes on. The region closes where a single state is left. */

static void run(struct machine *m, uint32_t at, int depth, struct cost *cost, struct region *region);

static void free_region(struct region *r)
{
    struct state **const kinds[] = {r->waiting, r->begun, r->spare};
    const int counts[] = {r->waiting_count, r->begun_count, r->spare_count};
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < counts[kind]; i++) {
            free(kinds[kind][i]->bytes);
            free(kinds[kind][i]);
        }
    }
    free(r);
}

/* Keeps registers, turns and calls as they are now; memory is left to who keeps it. */
static struct state *kept(struct machine *m, struct region *r, uint32_t place)
{
    struct state *s = r->spare_count > 0 ? r->spare[--r->spare_count] : calloc(1, sizeof *s);
    if (s == NULL) {
        stop_with(m, NO_MEMORY);
    }
    copy_registers(m, &s->registers, &m->now);
    memcpy(s->turns, m->turns, m->loop_count * sizeof *m->turns);
    s->count = 0;
    s->place = place;
    s->follows = m->follows;
    s->depth = m->depth;
    return s;
}

static void restored(struct machine *m, const struct state *s)
{
    copy_registers(m, &m->now, &s->registers);
    memcpy(m->turns, s->turns, m->loop_count * sizeof *m->turns);
    m->depth = s->depth;
    m->follows = s->follows;
    forget_indices(m);
}

/* The way that runs, as a state at a place, with what it wrote in this region. */
static struct state *state_at(struct machine *m, struct region *r, uint32_t place, struct cost cost)
{
    struct state *s = kept(m, r, place);
    s->cost = cost;
    s->forks = r->trail_count;
    memcpy(s->trail, r->trail, sizeof s->trail);
    memcpy(s->forked, r->forked, sizeof s->forked);
    join_memory(m, s, r->begin, 1);
    return s;
}

/* Below 0 where what waits at one place, in some turns of loops, has to run before what is at another, above 0 behind it. */
static int compared(const struct machine *m, uint32_t place, const uint32_t *turns, uint32_t other, const uint32_t *others)
{
    const struct point *a = &m->points[m->operations[place].point], *b = &m->points[m->operations[other].point];
    for (uint32_t i = 0; i < a->loops && i < b->loops && m->chains[a->first + i] == m->chains[b->first + i]; i++) {
        uint32_t loop = m->chains[a->first + i];
        if (turns[loop] != others[loop]) {
            return turns[loop] < others[loop] ? -1 : 1;
        }
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static int same_turns(const struct machine *m, const struct state *s, const struct point *around)
{
    for (uint32_t i = 0; i < around->loops; i++) {
        uint32_t loop = m->chains[around->first + i];
        if (s->turns[loop] != m->turns[loop]) {
            return 0;
        }
    }
    return 1;
}

static int writes_to(struct machine *m, struct value address)
{
    const struct segment *s = segment_of(m, (uint32_t)address.bits, 1);
    return s != NULL && s->known != NULL;
}

/* Whether a register that is read later holds one number in a state and another one now; `places`: one of them where
 * bytes can be written. */
static int contradicts(struct machine *m, const struct state *s, const struct point *at, int places)
{
    for (uint32_t i = 0; i < at->words; i++) {
        uint32_t word = m->live[at->live + i], unknown, bits;
        struct value now = get(m, word, 4);
        memcpy(&unknown, s->registers.unknown + word, 4);
        memcpy(&bits, s->registers.bits + word, 4);
        if (bits != now.bits && unknown == 0 && now.unknown == 0 && (!places || writes_to(m, now))) {
            return 1;
        }
    }
    return 0;
}

/* The state that the way that runs joins at a place: one with the same numbers, or of the same turns that points to the
 * same bytes. Of too many that stay apart the last one is taken. NULL: none. */
static struct state *met(struct machine *m, const struct region *r, uint32_t place)
{
    const struct point *at = &m->points[m->operations[place].point];
    struct state *last = NULL;
    int apart = 0;
    for (int i = 0; i < r->waiting_count; i++) {
        struct state *s = r->waiting[i];
        if (s->place != place || s->depth != m->depth) {
            continue;
        }
        int inside = same_turns(m, s, at);
        int same = inside && same_turns(m, s, &m->points[r->point]);
        if (!contradicts(m, s, at, same)) {
            return s;
        }
        last = inside ? s : last;
        apart++;
    }
    return apart >= APART ? last : NULL;
}

/* Whether a way that is still to be run came of a fork. */
static int came_of(struct state *const *states, int count, const struct state *but, int forks, uint32_t number)
{
    for (int i = 0; i < count; i++) {
        if (states[i] != but && states[i]->forks > forks && states[i]->trail[forks] == number) {
            return 1;
        }
    }
    return 0;
}

/* Joins the way that runs with a state, and notes by how much they differ at the branch where they parted. */
static void join(struct machine *m, struct region *r, struct state *s, struct cost cost)
{
    uint64_t apart = s->cost.most > cost.most ? s->cost.most - cost.most : cost.most - s->cost.most;
    int same = 0;
    join_registers(m, s);
    join_memory(m, s, r->begin, 0);
    widen(&s->cost, cost);
    while (same < s->forks && same < r->trail_count && s->trail[same] == r->trail[same]) {
        same++;
    }
    if (same > 0) {
        struct fork_count *told = &m->forks[s->forked[same - 1]];
        told->sum += apart;
        told->most = apart > told->most ? apart : told->most;
    }
    s->forks = same;
    while (s->forks > 0 && !came_of(r->waiting, r->waiting_count, s, s->forks - 1, s->trail[s->forks - 1]) &&
           !came_of(r->begun, r->begun_count, s, s->forks - 1, s->trail[s->forks - 1])) {
        s->forks--;
    }
}

/* The way that runs has come to a place where it waits for others, or meets one. */
static void arrived(struct machine *m, struct region *r, uint32_t place, struct cost cost, struct state *other)
{
    if (other != NULL) {
        join(m, r, other, cost);
    } else if (r->waiting_count == WAITING) {
        stop_with(m, NO_END);
    } else {
        r->waiting[r->waiting_count++] = state_at(m, r, place, cost);
    }
    m->stopped = place;
    r->way_count = 0;
}

/* At a place where ways meet: 1 where no other one is to run first, so that this way goes on. */
static int goes_on(struct machine *m, struct region *r, uint32_t at, struct cost cost)
{
    if (r->fresh) {
        r->fresh = 0;
        return 1;
    }
    struct state *other = met(m, r, at);
    int first = other == NULL && r->begun_count == 0 && r->waiting_count > 0;
    for (int i = 0; first && i < r->waiting_count; i++) {
        const struct state *s = r->waiting[i];
        first = s->depth < m->depth || compared(m, s->place, s->turns, at, m->turns) > 0;
    }
    if (!first) {
        arrived(m, r, at, cost, other);
    }
    return first;
}

/* The way that runs has left the call that opened the region: all that do so meet there. */
static void left(struct machine *m, struct region *r, struct cost cost)
{
    struct state *other = NULL;
    for (int i = 0; i < r->waiting_count; i++) {
        struct state *s = r->waiting[i];
        if (s->depth < r->depth && (s->depth != m->depth || s->place != m->stopped)) {
            stop_with(m, ARMS_APART);
        }
        other = s->depth < r->depth ? s : other;
    }
    arrived(m, r, m->stopped, cost, other);
}

/* The ways of a branch: all but the first wait to be run, and the first one runs on. */
static uint32_t parted(struct machine *m, struct region *r, uint32_t at, const uint32_t *ways, int count, struct cost cost)
{
    if (r->forks++ >= FORKS || r->begun_count + count > WAITING) {
        stop_with(m, NO_END);
    }
    m->forks[at].times++;
    if (r->trail_count < TRAIL) {
        r->forked[r->trail_count] = at;
        r->trail[r->trail_count++] = ++m->fork_number;
    }
    struct registers *before = &m->before_fork;
    copy_registers(m, before, &m->now);
    for (int way = count - 1; way > 0; way--) {
        narrow(m, at, 0);
        r->begun[r->begun_count++] = state_at(m, r, ways[way], cost);
        copy_registers(m, &m->now, before);
    }
    narrow(m, at, 1);
    return ways[0];
}

/* Restores a state of the region in the place of the way that has ended, and says where it goes on. */
static uint32_t resumed(struct machine *m, struct region *r, struct state *s, struct cost *cost)
{
    undo(m, r->begin);
    restored(m, s);
    write_joined(m, s);
    r->trail_count = s->forks;
    memcpy(r->trail, s->trail, sizeof r->trail);
    memcpy(r->forked, s->forked, sizeof r->forked);
    *cost = s->cost;
    r->spare[r->spare_count++] = s;
    return s->place;
}

/* Takes the waiting state that is least far on out of the others. */
static struct state *least(struct machine *m, struct region *r)
{
    int best = 0;
    for (int i = 1; i < r->waiting_count; i++) {
        const struct state *a = r->waiting[best], *b = r->waiting[i];
        if (a->depth < r->depth || (b->depth >= r->depth && compared(m, b->place, b->turns, a->place, a->turns) < 0)) {
            best = i;
        }
    }
    struct state *s = r->waiting[best];
    memmove(r->waiting + best, r->waiting + best + 1, (size_t)(r->waiting_count - best - 1) * sizeof *r->waiting);
    r->waiting_count--;
    return s;
}

/* Takes all ways of the branch at operation `at`; the machine goes on at `stopped`. */
static struct cost explored(struct machine *m, uint32_t at, const uint32_t *ways, int count)
{
    struct region *r = region_of(m);
    struct cost cost = {0, 0, 0, 0};
    r->depth = m->depth;
    r->begin = m->journal_count;
    r->point = m->operations[at].point;
    r->forks = 0;
    r->fresh = r->trail_count = r->way_count = 0;
    m->level++;
    m->epoch++;
    uint32_t next = parted(m, r, at, ways, count, cost);
    for (;;) {
        run(m, next, r->depth, &cost, r);
        if (m->depth < r->depth) {
            left(m, r, cost);
        }
        if (r->way_count > 0) {
            next = parted(m, r, m->stopped, r->ways, r->way_count, cost);
            r->way_count = 0;
        } else if (r->begun_count > 0) {
            next = resumed(m, r, r->begun[--r->begun_count], &cost);
        } else if (r->waiting_count > 1) {
            next = resumed(m, r, least(m, r), &cost);
            r->fresh = 1;
        } else if (r->waiting_count == 0) {
            stop_with(m, NO_END);
        } else {
            break;
        }
    }
    struct state *end = r->waiting[--r->waiting_count];
    undo(m, r->begin);
    m->level--;
    restored(m, end);
    write_joined(m, end);
    m->stopped = end->place;
    r->spare[r->spare_count++] = end;
    return end->cost;
}
