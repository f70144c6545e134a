/* Calls, returns, jumps and the order of operations. Part of machine.c. */

static void enter(struct machine *m, uint32_t target, uint32_t back)
{
    if (m->depth + 1 >= CALLS) {
        stop_with(m, RECURSION);
    }
    for (int i = 0; i < m->depth; i++) {
        if (m->entries[i] == target) {
            stop_with(m, RECURSION);
        }
    }
    m->returns[m->depth] = back & ~UINT32_C(1);
    m->entries[m->depth++] = target;
}

static int all_known(struct machine *m, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        if (get(m, m->arguments + 4 * i, 4).unknown != 0) {
            return 0;
        }
    }
    return 1;
}

static void forget(struct machine *m)
{
    for (uint32_t i = 0; i < m->clobbered_count; i++) {
        put(m, m->clobbered[i], 4, any(mask_of(4)));
    }
}

/* Counts a routine of which only arguments in registers decide, whatever they are; 0 where it writes elsewhere. */
static int summarised(struct machine *m, const struct operation *call, struct summary *of)
{
    if (of->state == 0) {
        struct region *r = region_of(m);
        struct state *before = kept(m, r, NOWHERE);
        size_t begin = m->journal_count;
        uint32_t shifts = m->shifts;
        struct value stack = get(m, m->stack_pointer, 4), link = get(m, m->link, 4);
        m->level++;
        m->epoch++;
        m->shifts = call->size == 4 ? 2 * BITS : BITS;
        forget(m);
        put(m, m->link, 4, link);
        enter(m, (uint32_t)call->out, (uint32_t)call->b);
        m->follows = 0;
        of->cost = (struct cost){0, 0, 0, 0};
        run(m, (uint32_t)call->aux, before->depth + 1, &of->cost, NULL);
        of->state = 1;
        for (size_t i = begin; i < m->journal_count; i++) {
            const struct segment *s = &m->segments[m->journal[i].segment];
            if (stack.unknown != 0 || s->low + m->journal[i].offset >= stack.bits) {
                of->state = 2;
            }
        }
        undo(m, begin);
        m->shifts = shifts;
        m->level--;
        restored(m, before);
        r->spare[r->spare_count++] = before;
    }
    return of->state == 1;
}

/* The layer that begins or ends here, where no fork is open; the call itself is of the layer as in a simulator. */
static void mark(struct machine *m, const struct cost *now)
{
    struct value layer = get(m, m->arguments, 4), phase = get(m, m->arguments + 4, 4);
    if (m->level == 0 && (layer.unknown | phase.unknown) == 0 && layer.bits < LAYERS) {
        struct layer_cost *of = &m->layers[layer.bits];
        if (phase.bits == 0) {
            of->before = *now;
        } else {
            of->spent.most += now->most - of->before.most;
            of->spent.least += now->least - of->before.least;
            of->spent.most_cycles += now->most_cycles - of->before.most_cycles;
            of->spent.least_cycles += now->least_cycles - of->before.least_cycles;
            of->runs++;
        }
    }
    forget(m);
}

/* Begins an instruction: 1 where the way stops before it. */
static int begun(struct machine *m, const struct operation *o, uint32_t at, int depth, struct cost *cost,
                 struct region *region)
{
    uint32_t pc = (uint32_t)o->a;
    int counted = o->aux != 0;
    if (counted && pc != m->follows) {
        uint64_t refill = m->refill + (pc >= m->slow_low && pc < m->slow_high ? m->wait : 0);
        cost->most_cycles += refill;
        cost->least_cycles += refill;
        m->follows = pc;
    }
    if (m->depth < depth || (region != NULL && o->point != 0 && m->depth == depth && !goes_on(m, region, at, *cost))) {
        m->stopped = at;
        return 1;
    }
    if (m->steps++ >= m->limit || (m->level > 0 && m->steps - m->outside > WITHIN)) {
        stop_with(m, NO_END);
    }
    m->outside = m->level > 0 ? m->outside : m->steps;
    m->address = pc;
    if ((pc - m->reached_low) / 2 < m->reached_halves) {
        m->reached[(pc - m->reached_low) / 2] = 1;
    }
    if (counted) {
        m->follows = (uint32_t)o->b;
        cost->most++;
        cost->least++;
        cost->most_cycles += o->out;
        cost->least_cycles += o->out;
    }
    return 0;
}

/* Where a call, a return or a computed jump leads; 0 at the end of the whole run. */
static uint32_t transferred(struct machine *m, const struct operation *o, struct cost *cost)
{
    int indirect = o->code == CALLIND || o->code == RETURN || o->code == BRANCHIND;
    struct value to = indirect ? get(m, o->a, o->a_size) : known(0);
    uint32_t at;
    switch (o->code) {
    case SUMMARY: {
        struct summary *of = &m->summaries[o->a_size];
        if (!all_known(m, o->size) && summarised(m, o, of)) {
            add(cost, of->cost);
            forget(m);
            m->follows = (uint32_t)o->b; /* the return was counted */
            return place_of(m, o->b);
        }
    } /* fall through */
    case CALL:
        enter(m, o->out, (uint32_t)o->b);
        return (uint32_t)o->aux;
    case MARK:
        mark(m, cost);
        return place_of(m, o->b);
    case CALLIND:
        if (to.unknown != 0) {
            stop_with(m, UNKNOWN_CALL);
        }
        at = place_of(m, to.bits);
        enter(m, (uint32_t)to.bits & ~UINT32_C(1), (uint32_t)o->b);
        return at;
    default: /* RETURN, and a jump to where a call came from */
        if (to.unknown != 0 || m->depth == 0 || m->returns[m->depth - 1] != ((uint32_t)to.bits & ~UINT32_C(1))) {
            stop_with(m, UNKNOWN_RETURN);
        }
        m->depth--;
        return m->depth == 0 ? NOWHERE : place_of(m, to.bits);
    }
}

static int returns_to(const struct machine *m, struct value to)
{
    return to.unknown == 0 && m->depth > 0 && m->returns[m->depth - 1] == ((uint32_t)to.bits & ~UINT32_C(1));
}

/* 0 where no input comes to another turn: a word is shifted until a bit is set, and it has no more bits. */
static int turn(struct machine *m, const struct operation *o)
{
    uint32_t loop = o->out;
    m->turns[loop] = o->aux != 0 ? 1 : m->turns[loop] + 1;
    if (m->shifts > 0 && m->turns[loop] > m->shifts) {
        return 0;
    }
    m->most_turns[loop] = m->turns[loop] > m->most_turns[loop] ? m->turns[loop] : m->most_turns[loop];
    return 1;
}

/* Runs from operation `at` until the call has returned; inside of a region also until this way has met another or has
 * to wait, or stops at a branch on data. */
static void run(struct machine *m, uint32_t at, int depth, struct cost *cost, struct region *region)
{
    uint32_t ways[WAYS];
    for (;;) {
        const struct operation *o = &m->operations[at];
        int count = 0;
        if (m->level == 0) {
            m->resume = at;
        }
        switch (o->code) {
        case INSTRUCTION:
            if (m->level == 0 && m->steps >= m->pause) {
                stop_with(m, PAUSED);
            }
            if (begun(m, o, at, depth, cost, region)) {
                return;
            }
            at++;
            break;
        case NODE:
            if (region != NULL && o->point != 0 && m->depth == depth && !goes_on(m, region, at, *cost)) {
                return;
            }
            at++;
            break;
        case GOTO:
        case BRANCH:
            at = (uint32_t)o->aux;
            break;
        case LOOP:
            if (!turn(m, o) && region != NULL && m->depth == depth) {
                m->stopped = at;
                return;
            }
            at++;
            break;
        case CBRANCH: {
            struct value condition = get(m, o->b, o->b_size);
            if (condition.unknown != 0 && condition.bits == 0) {
                ways[0] = (uint32_t)o->a;
                ways[1] = at + 1;
                count = 2;
            } else {
                at = condition.bits != 0 ? (uint32_t)o->a : at + 1;
            }
            break;
        }
        case BRANCHIND: {
            struct value to = get(m, o->a, o->a_size);
            if (returns_to(m, to)) {
                at = transferred(m, o, cost);
            } else if (to.unknown == 0) {
                note_jump(m, at, (uint32_t)to.bits);
                at = place_of(m, to.bits);
            } else {
                count = table_ways(m, at, ways);
            }
            break;
        }
        case SUMMARY:
        case CALL:
        case MARK:
        case CALLIND:
        case RETURN:
            at = transferred(m, o, cost);
            break;
        default:
            if (!evaluate(m, o, at, cost)) {
                stop_with(m, NOT_MODELLED);
            }
            at++;
            break;
        }
        if (count > 0 && region != NULL && m->depth == depth) {
            m->stopped = at;
            memcpy(region->ways, ways, sizeof ways);
            region->way_count = count;
            return;
        }
        if (count > 0) {
            add(cost, explored(m, at, ways, count));
            at = m->stopped;
            if (m->depth < depth) {
                return;
            }
        }
        if (at == NOWHERE) {
            m->stopped = NOWHERE;
            return;
        }
    }
}
