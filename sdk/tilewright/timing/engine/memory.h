/* Registers and memory of the abstract machine, and what forks keep of them. Part of machine.c. */

static const uint32_t NOWHERE = UINT32_MAX, DATA = UINT32_MAX - 1;

/* Ends the run with a status. */
__attribute__((noreturn)) static void stop_with(struct machine *m, enum status status)
{
    longjmp(m->out, (int)status);
}

/* An operand: a number, or the low 8 bytes at most of registers. */
static inline struct value get(const struct machine *m, uint64_t place, unsigned size)
{
    struct value result = {0, 0};
    if (size & CONSTANT) {
        return known(place & mask_of(size & ~(unsigned)CONSTANT));
    }
    if (size == 4) {
        uint32_t bits, unknown;
        memcpy(&bits, m->now.bits + place, 4);
        memcpy(&unknown, m->now.unknown + place, 4);
        return (struct value){bits, unknown};
    }
    if (size == 1) {
        return (struct value){m->now.bits[place], m->now.unknown[place]};
    }
    memcpy(&result.bits, m->now.bits + place, size > 8 ? 8 : size);
    memcpy(&result.unknown, m->now.unknown + place, size > 8 ? 8 : size);
    return result;
}

static inline void put(struct machine *m, uint32_t place, unsigned size, struct value value)
{
    if (size == 4) {
        uint32_t bits = (uint32_t)value.bits, unknown = (uint32_t)value.unknown;
        memcpy(m->now.bits + place, &bits, 4);
        memcpy(m->now.unknown + place, &unknown, 4);
    } else if (size == 1) {
        m->now.bits[place] = (uint8_t)value.bits;
        m->now.unknown[place] = (uint8_t)value.unknown;
    } else if (size > 8) {
        memset(m->now.bits + place, 0, size);
        memset(m->now.unknown + place, 255, size);
    } else {
        memcpy(m->now.bits + place, &value.bits, size);
        memcpy(m->now.unknown + place, &value.unknown, size);
    }
}

/* The segment that holds `size` bytes from an address on, NULL where there is none. */
static inline struct segment *segment_of(struct machine *m, uint32_t address, unsigned size)
{
    for (int i = 0; i < m->segment_count; i++) {
        struct segment *s = &m->segments[i];
        if (address >= s->low && address < s->high && s->high - address >= size) {
            return s;
        }
    }
    return NULL;
}

static struct value held(const struct segment *s, uint32_t offset, unsigned size)
{
    struct value result = {0, 0};
    uint64_t known_bits = 0;
    unsigned bytes = size > 8 ? 8 : size;
    memcpy(&result.bits, s->bytes + offset, bytes);
    if (s->known != NULL) {
        memcpy(&known_bits, s->known + offset, bytes);
        result.unknown = ~known_bits & mask_of(bytes);
        result.bits &= known_bits;
    }
    return result;
}

/* A load: what is not known of it, and what slow memory adds. Memory that nobody declared holds anything. */
static struct value load_from(struct machine *m, struct value address, unsigned size, struct cost *cost)
{
    uint64_t mask = mask_of(size);
    uint32_t low = (uint32_t)address.bits;
    if (m->wait != 0 && (address.unknown != 0 || (low >= m->slow_low && low < m->slow_high))) {
        cost->most_cycles += m->wait;
        cost->least_cycles += address.unknown != 0 ? 0 : m->wait;
    }
    if (address.unknown == 0) {
        const struct segment *s = segment_of(m, low, size);
        return s == NULL ? any(mask) : held(s, low - s->low, size);
    }
    m->unknown_loads++;
    if (__builtin_popcountll(address.unknown) > TABLE_BITS || address.unknown >> 32 != 0) {
        return any(mask);
    }
    struct value result = {0, 0};
    uint64_t part = 0;
    do {
        uint32_t at = low | (uint32_t)part;
        const struct segment *s = segment_of(m, at, size);
        if (s == NULL || s->known != NULL) {
            return any(mask);
        }
        struct value one = held(s, at - s->low, size);
        result = part == 0 ? one : joined(result, one);
        part = (part - address.unknown) & address.unknown;
    } while (part != 0);
    return result;
}

static void write_byte(struct machine *m, uint32_t segment, uint32_t offset, uint8_t bits, uint8_t unknown)
{
    struct segment *s = &m->segments[segment];
    if (m->level > 0 && s->noted[offset] != m->epoch) {
        if (m->journal_count == m->journal_capacity) {
            size_t capacity = m->journal_capacity ? 2 * m->journal_capacity : 65536;
            struct byte *more = realloc(m->journal, capacity * sizeof *more);
            if (more == NULL) {
                stop_with(m, NO_MEMORY);
            }
            m->journal = more;
            m->journal_capacity = capacity;
        }
        m->journal[m->journal_count++] = (struct byte){segment, offset, s->bytes[offset], (uint8_t)~s->known[offset]};
        s->noted[offset] = m->epoch;
    }
    s->bytes[offset] = bits & (uint8_t)~unknown;
    s->known[offset] = (uint8_t)~unknown;
}

/* A store. What goes to memory that nobody declared is lost: a load from there gives anything. */
static void store_to(struct machine *m, struct value address, unsigned size, struct value value)
{
    if (address.unknown != 0) {
        stop_with(m, UNKNOWN_STORE);
    }
    struct segment *s = segment_of(m, (uint32_t)address.bits, size);
    if (s == NULL) {
        return;
    }
    if (s->known == NULL) {
        stop_with(m, STORE_TO_CONSTANT);
    }
    uint32_t offset = (uint32_t)address.bits - s->low;
    if (m->level == 0 && size == 4) {
        uint32_t bits = (uint32_t)(value.bits & ~value.unknown), known_bits = (uint32_t)~value.unknown;
        memcpy(s->bytes + offset, &bits, 4);
        memcpy(s->known + offset, &known_bits, 4);
        return;
    }
    for (unsigned i = 0; i < size; i++) {
        unsigned shift = 8 * (i & 7);
        uint8_t unknown = i < 8 ? (uint8_t)(value.unknown >> shift) : 255;
        write_byte(m, (uint32_t)(s - m->segments), offset + i, (uint8_t)(value.bits >> shift), unknown);
    }
}

/* The buffers of the region that opens now. */
static struct region *region_of(struct machine *m)
{
    if (m->level >= NESTED) {
        stop_with(m, NO_END);
    }
    if (m->regions[m->level] == NULL) {
        m->regions[m->level] = calloc(1, sizeof(struct region));
        if (m->regions[m->level] == NULL) {
            stop_with(m, NO_MEMORY);
        }
    }
    return m->regions[m->level];
}

static void copy_registers(const struct machine *m, struct registers *to, const struct registers *from)
{
    memcpy(to->bits, from->bits, m->used);
    memcpy(to->unknown, from->unknown, m->used);
}

/* Joins the registers and turns of loops of the way that has ended with those of a state. */
static void join_registers(struct machine *m, struct state *f)
{
    for (uint32_t i = 0; i < m->used; i++) {
        uint8_t differ = (uint8_t)(m->now.bits[i] ^ f->registers.bits[i]);
        uint8_t unknown = (uint8_t)(m->now.unknown[i] | f->registers.unknown[i] | differ);
        f->registers.unknown[i] = unknown;
        f->registers.bits[i] &= (uint8_t)~unknown;
    }
    for (uint32_t i = 0; i < m->loop_count; i++) {
        f->turns[i] = m->turns[i] > f->turns[i] ? m->turns[i] : f->turns[i];
    }
}

static void join_byte(struct byte *to, uint8_t bits, uint8_t unknown)
{
    to->unknown = (uint8_t)(to->unknown | unknown | (to->bits ^ bits));
    to->bits &= (uint8_t)~to->unknown;
}

static void push_byte(struct machine *m, struct state *f, struct byte byte)
{
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : 256;
        struct byte *more = realloc(f->bytes, capacity * sizeof *more);
        if (more == NULL) {
            stop_with(m, NO_MEMORY);
        }
        f->bytes = more;
        f->capacity = capacity;
    }
    f->bytes[f->count++] = byte;
}

/* Joins what this way wrote since `begin` with what the ways before it did; what one of them left alone stays as it was. */
static void join_memory(struct machine *m, struct state *f, size_t begin, int first)
{
    size_t earlier = f->count;
    uint32_t before = ++m->generation, now = ++m->generation;
    for (size_t i = 0; i < earlier; i++) {
        struct segment *s = &m->segments[f->bytes[i].segment];
        s->stamp[f->bytes[i].offset] = before;
        s->place[f->bytes[i].offset] = (uint32_t)i;
    }
    for (size_t i = begin; i < m->journal_count; i++) {
        const struct byte *old = &m->journal[i];
        struct segment *s = &m->segments[old->segment];
        struct byte byte = {old->segment, old->offset, s->bytes[old->offset], (uint8_t)~s->known[old->offset]};
        uint32_t stamp = s->stamp[old->offset];
        s->stamp[old->offset] = now;
        if (stamp == now) {
            continue;
        }
        if (stamp == before) {
            join_byte(&f->bytes[s->place[old->offset]], byte.bits, byte.unknown);
            continue;
        }
        if (!first) {
            join_byte(&byte, old->bits, old->unknown);
        }
        push_byte(m, f, byte);
    }
    for (size_t i = 0; i < earlier; i++) {
        const struct segment *s = &m->segments[f->bytes[i].segment];
        uint32_t offset = f->bytes[i].offset;
        if (s->stamp[offset] == before) {
            join_byte(&f->bytes[i], s->bytes[offset], (uint8_t)~s->known[offset]);
        }
    }
}

/* Takes back what was written since `begin`. */
static void undo(struct machine *m, size_t begin)
{
    while (m->journal_count > begin) {
        const struct byte *old = &m->journal[--m->journal_count];
        m->segments[old->segment].bytes[old->offset] = old->bits;
        m->segments[old->segment].known[old->offset] = (uint8_t)~old->unknown;
    }
    m->epoch++;
}

static void write_joined(struct machine *m, const struct state *f)
{
    for (size_t i = 0; i < f->count; i++) {
        write_byte(m, f->bytes[i].segment, f->bytes[i].offset, f->bytes[i].bits, f->bytes[i].unknown);
    }
}

/* Remembers where a computed jump led. */
static void note_jump(struct machine *m, uint32_t at, uint32_t address)
{
    for (uint32_t i = 0; i < m->jump_count; i++) {
        if (m->jumps[2 * i] == at && m->jumps[2 * i + 1] == address) {
            return;
        }
    }
    if (m->jump_count < sizeof m->jumps / sizeof *m->jumps / 2) {
        m->jumps[2 * m->jump_count] = at;
        m->jumps[2 * m->jump_count++ + 1] = address;
    }
}
