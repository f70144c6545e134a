/* What operations of p-code do to registers and memory; numbers as pypcode gives them. Part of machine.c. */

enum {
    COPY = 1, LOAD, STORE, BRANCH, CBRANCH, BRANCHIND, CALL, CALLIND, CALLOTHER, RETURN,
    INT_EQUAL, INT_NOTEQUAL, INT_SLESS, INT_SLESSEQUAL, INT_LESS, INT_LESSEQUAL, INT_ZEXT, INT_SEXT, INT_ADD, INT_SUB,
    INT_CARRY, INT_SCARRY, INT_SBORROW, INT_2COMP, INT_NEGATE, INT_XOR, INT_AND, INT_OR, INT_LEFT, INT_RIGHT, INT_SRIGHT,
    INT_MULT, INT_DIV, INT_SDIV, INT_REM, INT_SREM, BOOL_NEGATE, BOOL_XOR, BOOL_AND, BOOL_OR,
    FLOAT_EQUAL = 41, FLOAT_NOTEQUAL, FLOAT_LESS, FLOAT_LESSEQUAL, FLOAT_NAN = 46, FLOAT_ADD, FLOAT_DIV, FLOAT_MULT,
    FLOAT_SUB, FLOAT_NEG, FLOAT_ABS, FLOAT_SQRT, FLOAT_INT2FLOAT, FLOAT_FLOAT2FLOAT, FLOAT_TRUNC,
    PIECE = 62, SUBPIECE = 63, POPCOUNT = 72, LZCOUNT = 73
};

/* Floats: known where both operands are. Everything else is unknown, as is what p-code does not define. */
static struct value float_result(const struct operation *o, struct value a, struct value b)
{
    unsigned size = o->a_size & ~(unsigned)CONSTANT;
    double x = real_of(a.bits, size), y = real_of(b.bits, size);
    if ((a.unknown | b.unknown) != 0) {
        return any(o->code <= FLOAT_NAN ? 1 : mask_of(o->size));
    }
    switch (o->code) {
    case FLOAT_EQUAL: return known(x == y);
    case FLOAT_NOTEQUAL: return known(x != y);
    case FLOAT_LESS: return known(x < y);
    case FLOAT_LESSEQUAL: return known(x <= y);
    case FLOAT_NAN: return known(isnan(x) != 0);
    case FLOAT_ADD: return real(x + y, o->size);
    case FLOAT_SUB: return real(x - y, o->size);
    case FLOAT_MULT: return real(x * y, o->size);
    case FLOAT_DIV: return real(x / y, o->size);
    case FLOAT_NEG: return known(a.bits ^ (UINT64_C(1) << (8 * size - 1)));
    case FLOAT_ABS: return known(a.bits & ~(UINT64_C(1) << (8 * size - 1)));
    case FLOAT_SQRT: return real(sqrt(x), o->size);
    case FLOAT_INT2FLOAT:
        return o->size == 4 ? real((float)extended(a.bits, size), 4) : real((double)extended(a.bits, size), 8);
    case FLOAT_FLOAT2FLOAT: return real(x, o->size);
    default: return any(mask_of(o->size));
    }
}

static struct value integer_result(const struct operation *o, struct value a, struct value b)
{
    unsigned size = o->a_size & ~(unsigned)CONSTANT;
    uint64_t mask = mask_of(size);
    switch (o->code) {
    case INT_ADD: return sum(a, b, mask);
    case INT_SUB: return difference(a, b, mask);
    case INT_AND: return both(a, b);
    case INT_OR: return either(a, b);
    case INT_XOR: return (struct value){(a.bits ^ b.bits) & ~(a.unknown | b.unknown), a.unknown | b.unknown};
    case INT_NEGATE: return (struct value){~a.bits & ~a.unknown & mask, a.unknown};
    case INT_2COMP: return difference(known(0), a, mask);
    case INT_MULT: return product(a, b, size);
    case INT_LEFT: return shifted(a, b, size, LEFT);
    case INT_RIGHT: return shifted(a, b, size, RIGHT);
    case INT_SRIGHT: return shifted(a, b, size, SIGNED_RIGHT);
    case INT_ZEXT: return a;
    case INT_SEXT:
        return (struct value){
            (uint64_t)extended(a.bits, size) & mask_of(o->size), (uint64_t)extended(a.unknown, size) & mask_of(o->size)};
    case INT_EQUAL: return equal(a, b);
    case INT_NOTEQUAL: return negated(equal(a, b));
    case INT_LESS: return less(a, b, 0);
    case INT_LESSEQUAL: return less(a, b, 1);
    case INT_SLESS: return signed_less(a, b, size, 0);
    case INT_SLESSEQUAL: return signed_less(a, b, size, 1);
    case INT_CARRY: return carry(a, b, mask);
    case INT_SCARRY: return overflow(a, b, size, 0);
    case INT_SBORROW: return overflow(a, b, size, 1);
    case INT_DIV: return divided(a, b, size, 0, 0);
    case INT_SDIV: return divided(a, b, size, 0, 1);
    case INT_REM: return divided(a, b, size, 1, 0);
    case INT_SREM: return divided(a, b, size, 1, 1);
    case BOOL_NEGATE: return negated(a);
    case BOOL_XOR: return (struct value){(a.bits ^ b.bits) & ~(a.unknown | b.unknown) & 1, (a.unknown | b.unknown) & 1};
    case BOOL_AND: return both(a, b);
    case BOOL_OR: return either(a, b);
    case POPCOUNT: return a.unknown ? any(127) : known((uint64_t)__builtin_popcountll(a.bits));
    case LZCOUNT:
        return a.unknown ? any(127) : known(a.bits ? (uint64_t)__builtin_clzll(a.bits) - (64 - 8 * size) : 8 * size);
    case SIGNED_SATURATE: return saturated(a, size, b, (unsigned)o->aux, 1);
    case UNSIGNED_SATURATE: return saturated(a, size, b, (unsigned)o->aux, 0);
    default: return any(mask_of(o->size));
    }
}

/* Wide registers are copied and cut; anything else that is done to them is unknown. */
static void wide(struct machine *m, const struct operation *o)
{
    unsigned size = o->a_size & ~(unsigned)CONSTANT;
    if (o->code == COPY && !(o->a_size & CONSTANT)) {
        memmove(m->now.bits + o->out, m->now.bits + o->a, o->size);
        memmove(m->now.unknown + o->out, m->now.unknown + o->a, o->size);
    } else if (o->code == SUBPIECE && !(o->a_size & CONSTANT) && o->size <= 8 && o->b + o->size <= size) {
        put(m, o->out, o->size, get(m, o->a + o->b, o->size));
    } else {
        put(m, o->out, o->size, any(mask_of(o->size)));
    }
}

static void concatenate(struct machine *m, const struct operation *o, struct value high, struct value low)
{
    unsigned places = 8 * (o->b_size & ~(unsigned)CONSTANT);
    struct value result = {(high.bits << places) | low.bits, (high.unknown << places) | low.unknown};
    put(m, o->out, o->size, result);
}

/* Keeps what a jump through a table may have come from. */
static inline void keep_index(struct machine *m, uint32_t at, struct value a, struct value b)
{
    uint64_t unknown = a.unknown | b.unknown;
    if (unknown == 0 || (a.unknown != 0 && b.unknown != 0) || __builtin_popcountll(unknown) > TABLE_BITS) {
        return;
    }
    struct index *of = &m->indices[++m->newest % INDICES];
    of->valid = 1;
    of->second = b.unknown != 0;
    of->at = at;
    of->number = of->second ? b : a;
    copy_registers(m, &of->before, &m->now);
}

/* Carries out what moves no control; 0 where it is not modelled. */
static inline int evaluate(struct machine *m, const struct operation *o, uint32_t at, struct cost *cost)
{
    if (o->code == LOAD) {
        put(m, o->out, o->size, load_from(m, get(m, o->b, o->b_size), o->size, cost));
    } else if (o->code == STORE) {
        store_to(m, get(m, o->b, o->b_size), o->size, get(m, o->a, o->a_size));
    } else if (o->code == REFUSED) {
        return 0;
    } else if (o->size > 8 || (o->a_size & ~(unsigned)CONSTANT) > 8 || (o->b_size & ~(unsigned)CONSTANT) > 8) {
        wide(m, o);
    } else if (o->code == COPY) {
        put(m, o->out, o->size, get(m, o->a, o->a_size));
    } else if (o->code == PIECE) {
        concatenate(m, o, get(m, o->a, o->a_size), get(m, o->b, o->b_size));
    } else if (o->code == SUBPIECE) {
        struct value a = get(m, o->a, o->a_size);
        unsigned places = 8 * (unsigned)o->b;
        a = places >= 64 ? known(0) : (struct value){a.bits >> places, a.unknown >> places};
        put(m, o->out, o->size, (struct value){a.bits & mask_of(o->size), a.unknown & mask_of(o->size)});
    } else {
        struct value a = get(m, o->a, o->a_size), b = get(m, o->b, o->b_size);
        if (o->code == INT_ADD && o->size == 4) {
            keep_index(m, at, a, b);
        }
        int floats = o->code >= FLOAT_EQUAL && o->code <= FLOAT_TRUNC;
        put(m, o->out, o->size, floats ? float_result(o, a, b) : integer_result(o, a, b));
    }
    return 1;
}
