<%
c = k.portable
q = c.quotient
sign = "" if k.signed else "u"
kept = c.length <= 32
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(c.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(c.lines))])
VECTORS = '__asm__ volatile(".option push\\n\\t.option arch, +v\\n\\t"'
x_step = "" if c.x_step == 1 else f', [x_step] "r"({c.x_step})'
y_apart = c.y_step * k.y_bits // 8
y_step = "" if c.y_step == 1 else f', [y_step] "r"({y_apart})'

def lines(texts):
    return "".join(f'                     "{text}\\n\\t"\n' for text in texts)

def load(register):
    return f"vle8.v {register}, (%[x])" if c.x_step == 1 else f"vlse8.v {register}, (%[x]), %[x_step]"

walked = ["add %[x], %[x], %[some]"] if c.x_step == 1 else ["mul %[some], %[some], %[x_step]", "add %[x], %[x], %[some]"]
powers = [
    load("v0"), "vrsub.vx v0, v0, %[largest]", "vsetvli zero, zero, e16, m4, ta, ma", "vzext.vf2 v4, v0", "vsll.vi v4, v4, 2",
    "vsetvli zero, zero, e32, m8, ta, ma", "vluxei16.v v16, (%[exponentials]), v4",
]
limited = [f"vsrl.vi v24, v24, {q.shift}"]
if q.high_bits is not None:
    limited += [f"vsrl.vi v8, v24, {q.high_bits}", "vsub.vv v24, v24, v8"]
limited += ["vadd.vx v24, v24, %[zero]"] if q.zero_point else []
limited += ["vmax.vx v24, v24, %[low]"] if q.low is not None else []
limited += ["vmin.vx v24, v24, %[high]"] if q.high is not None and q.high_bits is None else []
limited += ["vsetvli zero, zero, e16, m4, ta, ma", "vnsrl.wi v24, v24, 0"]
limited += ["vsetvli zero, zero, e8, m2, ta, ma", "vnsrl.wi v24, v24, 0"] if k.y_bits == 8 else []
limited += [f"vse{k.y_bits}.v v24, (%[y])" if c.y_step == 1 else f"vsse{k.y_bits}.v v24, (%[y]), %[y_step]"]
limits = [(name, value) for name, value in (("zero", q.zero_point or None), ("low", q.low), ("high", q.high if q.high_bits is None else None)) if value is not None]
%>\
static void ${f.name}_line(const ${c.x_type} *x, ${c.y_type} *y, const uint32_t *exponentials)
{
% if not kept:
    const ${c.x_type} *from = x;
    const ${c.x_type} *source = x;
    int some;
% endif
    int left = ${c.length};
    int tie;
    int32_t largest;
    uint32_t total[2];
% if kept:
    ${VECTORS}
${lines(["vsetvli zero, %[left], e8, m2, ta, ma", load("v0"), f"vredmax{sign}.vs v4, v0, v0", "vmv.x.s %[largest], v4", *powers[1:], "vsetivli zero, 1, e64, m1, ta, ma", "vmv.v.i v8, 0", "vsetvli zero, %[left], e32, m8, ta, ma", "vwredsumu.vs v8, v16, v8", "vsetivli zero, 1, e64, m1, ta, ma", "vse64.v v8, (%[total])"])}\
                     ".option pop"
                     : [largest] "=&r"(largest)
                     : [x] "r"(x), [left] "r"(left), [exponentials] "r"(exponentials), [total] "r"(total)${x_step} : "memory");
% else:
    ${VECTORS}
${lines(["vsetvli zero, %[left], e8, m8, ta, ma", load("v8"), "1:", "vsetvli %[some], %[left], e8, m8, tu, ma", load("v16"), f"vmax{sign}.vv v8, v8, v16", "sub %[left], %[left], %[some]", *walked, "bnez %[left], 1b", "vsetvli zero, %[length], e8, m8, ta, ma", f"vredmax{sign}.vs v16, v8, v8", "vmv.x.s %[largest], v16", "vsetivli zero, 1, e64, m1, ta, ma", "vmv.v.i v8, 0"])}\
                     ".option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), [x] "+&r"(from), [largest] "=&r"(largest)
                     : [length] "r"(${c.length})${x_step} : "memory");
    left = ${c.length};
    ${VECTORS}
${lines(["1:", "vsetvli %[some], %[left], e8, m2, ta, ma", *powers, "vwredsumu.vs v8, v16, v8", "sub %[left], %[left], %[some]", *walked, "bnez %[left], 1b", "vsetivli zero, 1, e64, m1, ta, ma", "vse64.v v8, (%[total])"])}\
                     ".option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), [x] "+&r"(source)
                     : [largest] "r"(largest), [exponentials] "r"(exponentials), [total] "r"(total)${x_step} : "memory");
% endif
    /* Too large by at most one, never too small. */
    const double sum = (double)total[1] * 4294967296.0 + (double)total[0];
    const uint32_t multiplier = (uint32_t)(${q.numerator}.0 / sum) + 1u;
% if not kept:
    for (left = ${c.length}; left > 0; left -= 32) {
        const int lanes = left < 32 ? left : 32;
% endif
<% indent = "    " if kept else "        "; lanes = "left" if kept else "lanes" %>\
${indent}${VECTORS}
${lines([f"vsetvli zero, %[lanes], {'e32, m8' if kept else 'e8, m2'}, ta, ma", *([] if kept else powers), "vmulhu.vx v24, v16, %[multiplier]", "vadd.vx v24, v24, %[half]", "vand.vx v8, v24, %[fraction]", "vmseq.vi v0, v8, 0", "vfirst.m %[tie], v0"])}\
                     ".option pop"
                     : [tie] "=&r"(tie)
                     : [lanes] "r"(${lanes}), [multiplier] "r"(multiplier), [half] "r"(${q.half}), [fraction] "r"(${(1 << q.shift) - 1})${"" if kept else ', [x] "r"(x), [largest] "r"(largest), [exponentials] "r"(exponentials)' + x_step}
                     : "memory");
${indent}if (tie >= 0) { /* one is on a tie, or less than a unit beside it */
${indent}    uint32_t words[32]; /* powers first */
${indent}    ${VECTORS}
                     "vse32.v v16, (%0)\n\t.option pop" : : "r"(words) : "memory");
${indent}    for (int i = 0; i < ${lanes}; i++) {
${indent}        const uint32_t word = (uint32_t)(((uint64_t)words[i] * multiplier) >> 32) + ${q.half}u;
${indent}        const uint64_t product = (uint64_t)words[i] * ${q.factor}u;
${indent}        const uint64_t whole = ((uint64_t)total[1] << 32) + total[0];
${indent}        words[i] = word;
${indent}        if ((word & ${(1 << q.shift) - 1}u) == 0u) {
${indent}            words[i] = tilewright_softmax_exact(product, whole << ${q.fraction_bits}, (word >> ${q.shift}) - 1u) << ${q.shift};
${indent}        }
${indent}    }
${indent}    ${VECTORS}
                     "vsetvli zero, %1, e32, m8, ta, ma\n\tvle32.v v24, (%0)\n\t.option pop" : : "r"(words), "r"(${lanes}) : "memory");
${indent}}
${indent}${VECTORS}
${lines(limited)}\
                     ".option pop"
                     : : [y] "r"(y)${"".join(f', [{name}] "r"({value})' for name, value in limits)}${y_step} : "memory");
% if not kept:
        x += ${times("lanes", c.x_step)};
        y += ${times("lanes", c.y_step)};
    }
% endif
}

static void ${f.name}(${f.parameters})
{
% for at, line in enumerate(c.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
    ${"    " * len(c.lines)}${f.name}_line(${x}, ${y}, exponentials);
% for at in reversed(range(len(c.lines))):
    ${"    " * at}}
% endfor
}
