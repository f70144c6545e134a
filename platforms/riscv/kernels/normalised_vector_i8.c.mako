<%
form, rows = k.form, k.form.rows
sign, letter = ("", "s") if k.signed else ("u", "z")
spread = rows.span > 1
VECTORS = '__asm__ volatile(".option push\\n\\t.option arch, +v\\n\\t"'

def lines(texts):
    return "".join(f'                     "{text}\\n\\t"\n' for text in texts)

def moved(name, bits):
    return [f"slli %[next], %[some], {bits // 16}", f"add %[{name}], %[{name}], %[next]"] if bits > 8 else [f"add %[{name}], %[{name}], %[some]"]

read = ["vsetvli %[some], %[left], e8, m2, ta, ma", "vle8.v v0, (%[from])"] if k.x_bits == 8 else ["vsetvli %[some], %[left], e16, m4, ta, ma", "vle16.v v4, (%[from])"]
halves = ["vsetvli zero, zero, e16, m4, ta, ma", f"v{letter}ext.vf2 v4, v0"] if k.x_bits == 8 else []
summed = [f"vwredsum{sign}.vs v24, v4, v24"]
unsigned = "u" if not k.signed and (form.centred or not form.centre) else ""
if not form.centred:
    summed = ["vsub.vx v4, v4, %[centre]"] if form.centre else []
words = ["vsetvli zero, zero, e32, m8, ta, ma", f"v{letter}ext.vf4 v8, v0" if k.x_bits == 8 else f"v{letter}ext.vf2 v8, v4"]
scaled = ["vmul.vx v8, v8, %[length]", "vsub.vx v8, v8, %[sum]"] if form.centred else ["vsub.vx v8, v8, %[sum]"]
high = "vmulh.vx v8, v8, %[factor]" if spread else "vmulh.vv v8, v8, v16"
added = "vadd.vx v8, v8, %[addend]" if spread else "vadd.vv v8, v8, v16"
parts = [] if spread else ["vle32.v v16, (%[factor])"]
more = [] if spread else ["vle32.v v16, (%[addend])"]
limits = ["vmax.vx v8, v8, %[low]", "vmin.vx v8, v8, %[high]"]
narrowed = ["vsetvli zero, zero, e16, m4, ta, ma", "vnsrl.wi v8, v8, 0"]
if k.y_bits == 8:
    narrowed += ["vsetvli zero, zero, e8, m2, ta, ma", "vnsrl.wi v8, v8, 0"]
turn = [*read, *words, *scaled, "vsll.vx v8, v8, %[room]", "vmulh.vx v8, v8, %[root]", *parts, high, "vsll.vx v8, v8, %[up]", "vsra.vx v8, v8, %[down]", *more, added, f"vsra.vi v8, v8, {form.bits}", *limits, *narrowed, f"vse{k.y_bits}.v v8, (%[to])", "sub %[left], %[left], %[some]", *moved("from", k.x_bits), *moved("to", k.y_bits)]
if not spread:
    turn += ["slli %[next], %[some], 2", "add %[factor], %[factor], %[next]", "add %[addend], %[addend], %[next]"]
walks = ", ".join(f'[{name}] "+&r"({name})' for name in (("left", "from", "to") if spread else ("left", "from", "to", "factor", "addend")))
with_next = any("%[next]" in line for line in turn)
%>\
/* ${"The sum of a row, and that of its squares." if form.centred else "The sum of a row's squares."} */
static uint64_t ${f.name}_sums(const ${k.x_type} *from${", int32_t *sum" if form.centred else ""})
{
    int left = ${rows.length};
    int some;
% if k.x_bits > 8:
    int next;
% endif
    uint32_t squares[2];
    ${VECTORS}
${lines(["vsetivli zero, 1, e64, m1, ta, ma", "vmv.v.i v24, 0", "vmv.v.i v28, 0", "1:", *read, *halves, *summed, f"vwmul{unsigned}.vv v8, v4, v4", "vsetvli zero, zero, e32, m8, ta, ma", "vwredsumu.vs v28, v8, v28", "sub %[left], %[left], %[some]", *moved("from", k.x_bits), "bnez %[left], 1b", *(["vmv.x.s %[some], v24"] if form.centred else []), "vsetivli zero, 1, e64, m1, ta, ma", "vse64.v v28, (%[squares])"])}\
                     ".option pop"
                     : [some] "=&r"(some), ${'[next] "=&r"(next), ' if k.x_bits > 8 else ""}[left] "+&r"(left), [from] "+&r"(from)
                     : [squares] "r"(squares)${f', [centre] "r"({form.centre})' if form.centre and not form.centred else ""} : "memory");
% if form.centred:
    *sum = some;
% endif
    return ((uint64_t)squares[1] << 32) + squares[0];
}

/* Codes of a run of elements, ${"under one factor and addend" if spread else "each under its own factor and addend"}. */
static void ${f.name}_run(const ${k.x_type} *from, ${k.y_type} *to, int32_t sum, int room, int32_t root, int shift, ${"int32_t factor, int32_t addend" if spread else "const int32_t *factor, const int32_t *addend"})
{
    const int up = shift > 0 ? shift : 0;
    const int down = shift < 0 ? -shift : 0;
    int left = ${rows.span if spread else rows.length};
    int some;
% if with_next:
    int next;
% endif
    ${VECTORS}
${lines(["1:", *turn, "bnez %[left], 1b"])}\
                     ".option pop"
                     : [some] "=&r"(some), ${'[next] "=&r"(next), ' if with_next else ""}${walks}
                     : [sum] "r"(sum), [room] "r"(room), [root] "r"(root), [up] "r"(up), [down] "r"(down),
                       ${f'[length] "r"({rows.length}), ' if form.centred else ""}${'[factor] "r"(factor), [addend] "r"(addend), ' if spread else ""}[low] "r"(${form.low}), [high] "r"(${form.high})
                     : "memory");
}

static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${rows.count}; row++) {
        const ${k.x_type} *const codes = x + row * ${rows.length};
        ${k.y_type} *const results = y + row * ${rows.length};
% if rows.sets > 1:
        const int32_t *const factor = factors + row % ${rows.sets} * ${rows.factors}, *const addend = addends + row % ${rows.sets} * ${rows.factors};
% else:
        const int32_t *const factor = factors, *const addend = addends;
% endif
        int even;
% if form.centred:
        int32_t sum;
        const uint64_t parts = ${f.name}_sums(codes, &sum);
        const uint64_t squares = parts * ${rows.length} - (uint64_t)((int64_t)sum * sum);
% else:
        const int32_t sum = ${form.centre};
        const uint64_t squares = ${f.name}_sums(codes);
% endif
        const uint64_t total = (squares << ${form.fraction_bits}) + ${form.epsilon}u;
        const int free = 31 - (tilewright_fixed_bits(squares) + ${form.spread_bits + 1}) / 2;
        const int room = free > 0 ? free : 0;
        const int32_t root = (int32_t)tilewright_fixed_inverse_root(tilewright_fixed_upper(total != 0 ? total : 1, &even));
        const int wanted = ${form.exponent} - room - even / 2;
        const int shift = wanted > -31 ? wanted : -31;
% if spread:
        for (int n = 0; n < ${rows.factors}; n++) {
            ${f.name}_run(codes + n * ${rows.span}, results + n * ${rows.span}, sum, room, root, shift, factor[n], addend[n]);
        }
% else:
        ${f.name}_run(codes, results, sum, room, root, shift, factor, addend);
% endif
    }
}
