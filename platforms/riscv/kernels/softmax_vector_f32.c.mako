<%
x_step, y_step = 4 * k.x_step, 4 * k.y_step
x_lane, y_lane = 4 * k.strip.x, 4 * k.strip.y

def moved(kind, register, place, bytes_apart, name):
    return f"v{kind}e32.v {register}, (%[{place}])" if bytes_apart == 4 else f"v{kind}se32.v {register}, (%[{place}]), %[{name}]"

def load(register, place="x"):
    return moved("l", register, place, x_lane if k.side_by_side else x_step, "x_beside")

def store(register, place="y"):
    return moved("s", register, place, y_lane if k.side_by_side else y_step, "y_beside")

def again(register, place="y"):
    return moved("l", register, place, y_lane if k.side_by_side else y_step, "y_beside")

def beside(names):
    apart = {"x": x_lane if k.side_by_side else x_step, "y": y_lane if k.side_by_side else y_step}
    return "".join(f', [{name}_beside] "r"({apart[name]})' for name in names if apart[name] != 4)

def inputs(statement):
    return ", ".join(f'[{n.name}] "{n.kind}"({n.value})' for n in statement.inputs)

numbers = inputs(k.powers)

def lines(texts):
    return "".join(f'                     "{text}\\n\\t"\n' for text in texts)

VECTORS = '__asm__ volatile(".option push\\n\\t.option arch, +v\\n\\t"'
%>\
% if k.at_once:
/* Lines one after the other, each in registers. */
static void ${f.name}_lines(const float *x, float *y)
{
    int lines = ${k.strip.count};
    float value;
    ${VECTORS}
${lines(["vsetvli zero, %[length], e32, m8, ta, ma", "1:", load("v16"), "vfredmax.vs v8, v16, v16", "vfmv.f.s %[value], v8", "vfrsub.vf v16, v16, %[value]", *k.powers.lines, "vmv.s.x v8, zero", "vfredusum.vs v8, v0, v8", "vfmv.f.s %[value], v8", "fdiv.s %[value], %[one], %[value]", "vfmul.vf v0, v0, %[value]", store("v0"), "add %[x], %[x], %[x_line]", "add %[y], %[y], %[y_line]", "addi %[lines], %[lines], -1", "bnez %[lines], 1b"])}\
                     ".option pop"
                     : [x] "+&r"(x), [y] "+&r"(y), [lines] "+&r"(lines), [value] "=&f"(value)
                     : [length] "r"(${k.length}), [x_line] "r"(${x_lane}), [y_line] "r"(${y_lane}), [one] "f"(1.0f)${beside("xy")},
                       ${numbers}
                     : "memory");
}
% elif k.side_by_side:
/* Up to sixteen lines side by side: the largest of each lies in v12, the sum of its powers in v8. */
static void ${f.name}_lines(const float *x, float *y, int width)
{
    const float *from = x;
    const float *source = x;
% if not k.logarithm:
    float *powers = y;
% endif
    int left = ${k.length};
    ${VECTORS}
${lines(["vsetvli zero, %[width], e32, m4, ta, ma", load("v12"), "vmv.v.i v8, 0", "1:", load("v16"), "add %[x], %[x], %[x_step]", "vfmax.vv v12, v12, v16", "addi %[left], %[left], -1", "bnez %[left], 1b"])}\
                     ".option pop"
                     : [x] "+&r"(from), [left] "+&r"(left)
                     : [width] "r"(width), [x_step] "r"(${x_step})${beside("x")} : "memory");
    left = ${k.length};
    ${VECTORS}
% if k.logarithm:
${lines(["1:", load("v16"), "add %[x], %[x], %[x_step]", "vfsub.vv v16, v12, v16", *k.powers.lines, "vfadd.vv v8, v8, v0", "addi %[left], %[left], -1", "bnez %[left], 1b"])}\
                     ".option pop"
                     : [x] "+&r"(source), [left] "+&r"(left)
                     : [x_step] "r"(${x_step})${beside("x")},
                       ${numbers}
                     : "memory");
    ${VECTORS}
${lines(k.logarithms.lines)}\
                     ".option pop" : : ${inputs(k.logarithms)});
    left = ${k.length};
    ${VECTORS}
${lines(["1:", load("v16"), "add %[x], %[x], %[x_step]", "vfsub.vv v16, v16, v12", "vfsub.vv v16, v16, v8", store("v16"), "add %[y], %[y], %[y_step]", "addi %[left], %[left], -1", "bnez %[left], 1b"])}\
                     ".option pop"
                     : [x] "+&r"(x), [y] "+&r"(y), [left] "+&r"(left)
                     : [x_step] "r"(${x_step}), [y_step] "r"(${y_step})${beside("xy")} : "memory");
% else:
${lines(["1:", load("v16"), "add %[x], %[x], %[x_step]", "vfsub.vv v16, v12, v16", *k.powers.lines, "vfadd.vv v8, v8, v0", store("v0"), "add %[y], %[y], %[y_step]", "addi %[left], %[left], -1", "bnez %[left], 1b", "vfrdiv.vf v8, v8, %[one]"])}\
                     ".option pop"
                     : [x] "+&r"(source), [y] "+&r"(powers), [left] "+&r"(left)
                     : [x_step] "r"(${x_step}), [y_step] "r"(${y_step}), [one] "f"(1.0f)${beside("xy")},
                       ${numbers}
                     : "memory");
    left = ${k.length};
    ${VECTORS}
${lines(["1:", again("v16"), "vfmul.vv v16, v16, v8", store("v16"), "add %[y], %[y], %[y_step]", "addi %[left], %[left], -1", "bnez %[left], 1b"])}\
                     ".option pop"
                     : [y] "+&r"(y), [left] "+&r"(left) : [y_step] "r"(${y_step})${beside("y")} : "memory");
% endif
}
% else:
<%
def turn(moves, texts):
    moving = [f"add %[{name}], %[{name}], %[next]" for name in moves]
    if len({x_step if name == "x" else y_step for name in moves}) == 1:
        step = x_step if moves[0] == "x" else y_step
        moving.insert(0, "slli %[next], %[some], 2" if step == 4 else f"mul %[next], %[some], %[{moves[0]}_beside]")
    else:
        sizes = {"x": x_step, "y": y_step}
        moving = [line for name in moves for line in ("slli %[next], %[some], 2" if sizes[name] == 4 else f"mul %[next], %[some], %[{name}_beside]", f"add %[{name}], %[{name}], %[next]")]
    return ("1:", "vsetvli %[some], %[left], e32, m8, tu, ma", *texts, "sub %[left], %[left], %[some]", *moving, "bnez %[left], 1b")
moved_by = '[some] "=&r"(some), [next] "=&r"(next), [left] "+&r"(left)'
%>\
/* A line of more floats than registers hold. */
static void ${f.name}_line(const float *x, float *y)
{
    const float *from = x;
    const float *source = x;
% if not k.logarithm:
    float *powers = y;
% endif
    int some;
    int next;
    int left = ${k.length};
    float largest;
    float total;
    ${VECTORS}
${lines(["vsetvli zero, %[length], e32, m8, ta, ma", load("v8"), *turn("x", [load("v16"), "vfmax.vv v8, v8, v16"]), "vsetvli zero, %[length], e32, m8, ta, ma", "vfredmax.vs v16, v8, v8", "vfmv.f.s %[largest], v16", "vmv.v.i v8, 0"])}\
                     ".option pop"
                     : ${moved_by}, [x] "+&r"(from), [largest] "=&f"(largest)
                     : [length] "r"(${k.length})${beside("x")} : "memory");
    left = ${k.length};
    ${VECTORS}
${lines([*turn("x" if k.logarithm else "xy", [load("v16"), "vfrsub.vf v16, v16, %[largest]", *k.powers.lines, "vfadd.vv v8, v8, v0", *(() if k.logarithm else (store("v0"),))]), "vsetvli zero, %[length], e32, m8, ta, ma", "vmv.s.x v16, zero", "vfredusum.vs v8, v8, v16", *(() if k.logarithm else ("vfmv.f.s %[total], v8",))])}\
                     ".option pop"
                     : ${moved_by}, [x] "+&r"(source), ${'[largest] "+f"(largest)' if k.logarithm else '[y] "+&r"(powers), [total] "=&f"(total)'}
                     : [length] "r"(${k.length})${beside("x") if k.logarithm else ', [largest] "f"(largest)' + beside("xy")},
                       ${numbers}
                     : "memory");
    left = ${k.length};
% if k.logarithm:
    ${VECTORS}
${lines([*k.logarithms.lines, "vfmv.f.s %[total], v8"])}\
                     ".option pop" : [total] "=f"(total) : ${inputs(k.logarithms)});
    ${VECTORS}
${lines([*turn("xy", [load("v16"), "vfsub.vf v16, v16, %[largest]", "vfsub.vf v16, v16, %[total]", store("v16")])])}\
                     ".option pop"
                     : ${moved_by}, [x] "+&r"(x), [y] "+&r"(y)
                     : [largest] "f"(largest), [total] "f"(total)${beside("xy")} : "memory");
% else:
    total = 1.0f / total;
    ${VECTORS}
${lines([*turn("y", [again("v16"), "vfmul.vf v16, v16, %[total]", store("v16")])])}\
                     ".option pop"
                     : ${moved_by}, [y] "+&r"(y) : [total] "f"(total)${beside("y")} : "memory");
% endif
}
% endif

<%
loops = [*k.around] if k.side_by_side or k.at_once else [*k.around, k.strip]
x = " + ".join(["x", *(times(f"i{n}", line.x) for n, line in enumerate(loops))])
y = " + ".join(["y", *(times(f"i{n}", line.y) for n, line in enumerate(loops))])
indent = "    " * (len(loops) + 1)
%>\
static void ${f.name}(${f.parameters})
{
% for n, line in enumerate(loops):
    ${"    " * n}for (int i${n} = 0; i${n} < ${line.count}; i${n}++) {
% endfor
% if k.side_by_side:
${indent}for (int n = 0; n < ${k.strip.count}; n += 16) {
${indent}    const int width = ${k.strip.count} - n < 16 ? ${k.strip.count} - n : 16;
${indent}    ${f.name}_lines(${x} + ${times("n", k.strip.x)}, ${y} + ${times("n", k.strip.y)}, width);
${indent}}
% elif k.at_once:
${indent}${f.name}_lines(${x}, ${y});
% else:
${indent}${f.name}_line(${x}, ${y});
% endif
% for n in reversed(range(len(loops))):
    ${"    " * n}}
% endfor
}
