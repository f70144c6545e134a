<%
rows = k.rows
spread = rows.span > 1
VECTORS = '__asm__ volatile(".option push\\n\\t.option arch, +v\\n\\t"'

def lines(texts):
    return "".join(f'                     "{text}\\n\\t"\n' for text in texts)

def summed(texts):
    start = ["vsetvli zero, %[left], e32, m8, ta, ma", "vmv.v.i v8, 0", "1:", "vsetvli %[some], %[left], e32, m8, tu, ma", "vle32.v v16, (%[from])"]
    moved = ["sub %[left], %[left], %[some]", "slli %[some], %[some], 2", "add %[from], %[from], %[some]", "bnez %[left], 1b"]
    total = ["vsetvli zero, %[length], e32, m8, ta, ma", "vmv.s.x v16, zero", "vfredusum.vs v8, v8, v16", "vfmv.f.s %[total], v8"]
    return [*start, *texts, *moved, *total]

result = [*(["vfsub.vf v8, v8, %[mean]"] if k.centred else []), "vfmul.vf v8, v8, %[root]"]
if spread:
    result += ["vfmul.vf v8, v8, %[factor]", *(["vfadd.vf v8, v8, %[addend]"] if k.bias else [])]
    walks = ["from", "to"]
else:
    result += ["vle32.v v16, (%[factor])", "vfmul.vv v8, v8, v16", *(["vle32.v v24, (%[addend])", "vfadd.vv v8, v8, v24"] if k.bias else [])]
    walks = ["from", "to", "factor", *(["addend"] if k.bias else [])]
mean = ("float mean, ", "mean, ") if k.centred else ("", "")
addend = "float addend" if spread else "const float *addend"
parameters = ("float factor" if spread else "const float *factor") + (f", {addend}" if k.bias else "")
%>\
% if k.centred:
/* The sum of a row. */
static float ${f.name}_sum(const float *from)
{
    int left = ${rows.length};
    int some;
    float total;
    ${VECTORS}
${lines(summed(["vfadd.vv v8, v8, v16"]))}\
                     ".option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), [from] "+&r"(from), [total] "=&f"(total)
                     : [length] "r"(${rows.length}) : "memory");
    return total;
}

% endif
/* The sum of squares${" around the mean" if k.centred else ""}. */
static float ${f.name}_squares(const float *from${", float mean" if k.centred else ""})
{
    int left = ${rows.length};
    int some;
    float total;
    ${VECTORS}
${lines(summed([*(["vfsub.vf v16, v16, %[mean]"] if k.centred else []), "vfmacc.vv v8, v16, v16"]))}\
                     ".option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), [from] "+&r"(from), [total] "=&f"(total)
                     : [length] "r"(${rows.length})${', [mean] "f"(mean)' if k.centred else ""} : "memory");
    return total;
}

/* A run of elements, ${"under one factor" if spread else "each under its own factor"}. */
static void ${f.name}_run(const float *from, float *to, ${mean[0]}float root, ${parameters})
{
    int left = ${rows.span if spread else rows.length};
    int some;
    ${VECTORS}
${lines(["1:", "vsetvli %[some], %[left], e32, m8, ta, ma", "vle32.v v8, (%[from])", *result, "vse32.v v8, (%[to])", "sub %[left], %[left], %[some]", "slli %[some], %[some], 2", *(f"add %[{name}], %[{name}], %[some]" for name in walks), "bnez %[left], 1b"])}\
                     ".option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), ${", ".join(f'[{name}] "+&r"({name})' for name in walks)}
                     : [root] "f"(root)${', [mean] "f"(mean)' if k.centred else ""}${', [factor] "f"(factor)' if spread else ""}${', [addend] "f"(addend)' if spread and k.bias else ""}
                     : "memory");
}

static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${rows.count}; row++) {
        const float *const from = x + row * ${rows.length};
        float *const to = y + row * ${rows.length};
<% first = f" + row % {rows.sets} * {rows.factors}" if rows.sets > 1 else "" %>\
        const float *const factor = factors${first};
% if k.bias:
        const float *const addend = addends${first};
% endif
% if k.centred:
        const float mean = ${f.name}_sum(from) / ${rows.length}.0f;
% endif
        const float squares = ${f.name}_squares(from${", mean" if k.centred else ""}) / ${rows.length}.0f;
        const float root = 1.0f / sqrtf(squares + ${k.epsilon});
% if spread:
        for (int n = 0; n < ${rows.factors}; n++) {
            ${f.name}_run(from + n * ${rows.span}, to + n * ${rows.span}, ${mean[1]}root, factor[n]${", addend[n]" if k.bias else ""});
        }
% else:
        ${f.name}_run(from, to, ${mean[1]}root, factor${", addend" if k.bias else ""});
% endif
    }
}
