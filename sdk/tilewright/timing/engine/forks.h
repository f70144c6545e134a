/* Ways of a branch on what is not known, and where they meet. Part of machine.c. */

static void run(struct machine *m, uint32_t at, uint32_t stop, uint32_t header, int depth, struct cost *cost);

static void add(struct cost *to, struct cost more)
{
    to->most += more.most;
    to->least += more.least;
    to->most_cycles += more.most_cycles;
    to->least_cycles += more.least_cycles;
}

static void widen(struct cost *to, struct cost other)
{
    to->most = other.most > to->most ? other.most : to->most;
    to->least = other.least < to->least ? other.least : to->least;
    to->most_cycles = other.most_cycles > to->most_cycles ? other.most_cycles : to->most_cycles;
    to->least_cycles = other.least_cycles < to->least_cycles ? other.least_cycles : to->least_cycles;
}

/* Where a fork's ways stop, and what they cost. */
struct meeting {
    uint32_t place, follows;
    int depth;
    struct cost cost;
    uint64_t largest, smallest; /* of the largest counts of the ways */
};

static void forget_indices(struct machine *m)
{
    for (int i = 0; i < INDICES; i++) {
        m->indices[i].valid = 0;
    }
}

static void restart(struct machine *m, const struct frame *f, int depth, uint32_t follows)
{
    copy_registers(m, &m->now, &f->before);
    memcpy(m->turns, f->turns_before, m->loop_count * sizeof *m->turns);
    m->depth = depth;
    m->follows = follows;
    forget_indices(m);
}

static void limit(struct machine *m, uint64_t place, unsigned size, uint64_t most)
{
    if (!(size & CONSTANT) && size <= 8) {
        struct value value = get(m, place, size);
        value.unknown &= most == 0 ? 0 : ~UINT64_C(0) >> __builtin_clzll(most);
        put(m, (uint32_t)place, size, value);
    }
}

/* What a comparison right before a branch tells of its operands: how large one can be, or that both are equal. */
static void narrow(struct machine *m, uint32_t at, int holds)
{
    const struct operation *branch = &m->operations[at], *compared = branch - 1;
    if (branch->code != CBRANCH || compared->code < INT_EQUAL || compared->code > INT_LESSEQUAL ||
        compared->code == INT_SLESS || compared->code == INT_SLESSEQUAL || compared->out != branch->b) {
        return;
    }
    struct value a = get(m, compared->a, compared->a_size), b = get(m, compared->b, compared->b_size);
    uint64_t most_a = a.bits | a.unknown, most_b = b.bits | b.unknown;
    if (compared->code == INT_LESS || compared->code == INT_LESSEQUAL) {
        if (holds) {
            limit(m, compared->a, compared->a_size, most_b - (compared->code == INT_LESS));
        } else {
            limit(m, compared->b, compared->b_size, most_a - (compared->code == INT_LESSEQUAL));
        }
    } else if (holds == (compared->code == INT_EQUAL)) {
        struct value met = {a.bits | b.bits, a.unknown & b.unknown};
        if (!(compared->a_size & CONSTANT)) {
            put(m, (uint32_t)compared->a, compared->a_size, met);
        }
        if (!(compared->b_size & CONSTANT)) {
            put(m, (uint32_t)compared->b, compared->b_size, met);
        }
    }
}

/* Runs every way; 0 where they do not stop at the same place. */
static int run_ways(struct machine *m, struct frame *f, uint32_t at, const uint32_t *ways, int count, uint32_t header,
                    struct meeting *meeting)
{
    size_t begin = m->journal_count;
    int depth = m->depth;
    uint32_t follows = m->follows, stop = (uint32_t)m->operations[at].aux;
    f->count = 0;
    for (int way = 0; way < count; way++) {
        struct cost cost = {0, 0, 0, 0};
        narrow(m, at, way == 0);
        run(m, ways[way], stop, header, depth, &cost);
        if (way != 0 && (m->stopped != meeting->place || m->depth != meeting->depth)) {
            undo(m, begin);
            restart(m, f, depth, follows);
            return 0;
        }
        join_memory(m, f, begin, way == 0);
        undo(m, begin);
        if (way == 0) {
            copy_registers(m, &f->meeting, &m->now);
            memcpy(f->turns_meeting, m->turns, m->loop_count * sizeof *m->turns);
            *meeting = (struct meeting){m->stopped, m->follows, m->depth, cost, cost.most, cost.most};
        } else {
            join_registers(m, f);
            widen(&meeting->cost, cost);
            meeting->largest = cost.most > meeting->largest ? cost.most : meeting->largest;
            meeting->smallest = cost.most < meeting->smallest ? cost.most : meeting->smallest;
        }
        restart(m, f, depth, follows);
    }
    return 1;
}

/* Takes all ways of the branch at operation `at`; the machine goes on at `stopped`. */
static struct cost fork_ways(struct machine *m, uint32_t at, const uint32_t *ways, int count)
{
    const struct operation *branch = &m->operations[at];
    struct meeting meeting;
    struct frame *f = frame_of(m);
    copy_registers(m, &f->before, &m->now);
    memcpy(f->turns_before, m->turns, m->loop_count * sizeof *m->turns);
    m->level++;
    if (!run_ways(m, f, at, ways, count, branch->loop != 0 ? branch->loop : NOWHERE, &meeting) &&
        !run_ways(m, f, at, ways, count, NOWHERE, &meeting)) {
        stop_with(m, ARMS_APART);
    }
    m->level--;
    copy_registers(m, &m->now, &f->meeting);
    memcpy(m->turns, f->turns_meeting, m->loop_count * sizeof *m->turns);
    m->depth = meeting.depth;
    m->follows = meeting.follows;
    m->stopped = meeting.place;
    write_joined(m, f);
    struct fork_count *told = &m->forks[at];
    uint64_t apart = meeting.largest - meeting.smallest;
    told->times++;
    told->sum += apart;
    told->most = apart > told->most ? apart : told->most;
    return meeting.cost;
}

static uint32_t place_of(struct machine *m, uint64_t address)
{
    uint32_t half = (uint32_t)((address & ~UINT64_C(1)) - m->code_low) >> 1;
    if (half >= m->code_halves || m->places[half] >= DATA) {
        m->wanted = (uint32_t)address & ~UINT32_C(1);
        stop_with(m, NEEDS_CODE);
    }
    return m->places[half];
}

/* Whether a table may hold a word: not behind all memory, nor among instructions. */
static int may_be_table(struct machine *m, uint32_t address, unsigned size)
{
    uint32_t half = (address - m->code_low) >> 1;
    return segment_of(m, address, size) != NULL && (half >= m->code_halves || m->places[half] >= DATA);
}

/* The target of the computed jump at operation `at` where an index is known to be `number`.
 * 0 where it stays unknown, NOWHERE where no table holds it. */
static uint32_t table_target(struct machine *m, uint32_t at, const struct index *of, uint64_t number)
{
    const struct operation *add = &m->operations[of->at];
    struct cost none = {0, 0, 0, 0};
    int left = 200;
    copy_registers(m, &m->now, &of->before);
    struct value other = of->second ? get(m, add->a, add->a_size) : get(m, add->b, add->b_size);
    put(m, add->out, add->size, sum(known(number), other, mask_of(add->size)));
    for (uint32_t next = of->at + 1; next != at;) {
        const struct operation *o = &m->operations[next];
        int passed = o->code == INSTRUCTION || o->code == GOTO || o->code == NODE;
        int moves = o->code == STORE || o->code == BRANCH || (o->code >= CBRANCH && o->code <= RETURN) ||
                    (o->code >= LOOP && o->code <= MARK);
        struct value address = o->code == LOAD ? get(m, o->b, o->b_size) : any(1);
        if (address.unknown == 0 && !may_be_table(m, (uint32_t)address.bits, o->size)) {
            return NOWHERE;
        }
        if (left-- == 0 || moves || (!passed && !evaluate(m, o, next, &none))) {
            return 0;
        }
        next = o->code == GOTO ? (uint32_t)o->aux : next + 1;
    }
    struct value target = get(m, m->operations[at].a, m->operations[at].a_size);
    if (target.unknown != 0) {
        return 0;
    }
    return target.bits != 0 ? (uint32_t)target.bits : NOWHERE;
}

/* Targets of a jump through a table by an index: it takes all its values. 0 where one stays unknown. */
static int targets_by(struct machine *m, uint32_t at, const struct index *of, uint32_t *addresses)
{
    uint64_t part = 0;
    int count = 0;
    do {
        uint32_t target = table_target(m, at, of, of->number.bits | part);
        uint32_t half = ((target & ~UINT32_C(1)) - m->code_low) >> 1;
        int seen = 0;
        part = (part - of->number.unknown) & of->number.unknown;
        if (target == 0) {
            return 0;
        }
        if (half >= m->code_halves || m->places[half] >= DATA) {
            continue; /* behind the table: a check of the index came before, a program jumps to code */
        }
        while (seen < count && addresses[seen] != target) {
            seen++;
        }
        addresses[seen] = target;
        count = seen == count ? count + 1 : count;
    } while (part != 0);
    return count;
}

/* Targets of a jump through a table of constants whose index is not known. */
static int table_ways(struct machine *m, uint32_t at, uint32_t *ways)
{
    static struct registers now;
    static struct index of;
    uint32_t addresses[WAYS], newest = m->newest;
    int count = 0;
    copy_registers(m, &now, &m->now);
    for (uint32_t back = 0; back < INDICES && count == 0; back++) {
        of = m->indices[(newest - back) % INDICES];
        count = of.valid ? targets_by(m, at, &of, addresses) : 0;
    }
    copy_registers(m, &m->now, &now);
    if (count == 0) {
        stop_with(m, UNKNOWN_JUMP);
    }
    for (int i = 0; i < count; i++) {
        note_jump(m, at, addresses[i]);
        ways[i] = place_of(m, addresses[i]);
    }
    return count;
}
