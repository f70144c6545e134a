/* Ways of a branch on what is not known, and what it tells. Part of machine.c. */

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

static void forget_indices(struct machine *m)
{
    for (int i = 0; i < INDICES; i++) {
        m->indices[i].valid = 0;
    }
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
