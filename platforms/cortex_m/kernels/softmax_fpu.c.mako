<%
n = k.numbers
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(n.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(n.lines))])
lined = k.gathered or k.logarithm
%>\
TILEWRIGHT_FLOAT void ${f.name}_line(const float *x, float *y${", float *line" if lined else ""})
{
% if k.gathered:
    for (int i = 0; i < ${n.length}; i++) {
        line[i] = x[${times("i", n.x_step)}];
    }
% endif
<%
read = "line" if k.gathered else "x"
powers = f"line + {n.length}" if k.gathered and k.logarithm else "line" if lined else "y"
%>\
    const float largest = tilewright_fpu_largest(${read}, ${n.length});
    const float total = tilewright_fpu_raised(${read}, ${powers}, ${n.length}, largest);
% if k.logarithm:
    tilewright_fpu_lowered(${read}, y, ${n.length}, ${n.y_step}, largest, logf(total));
% else:
    tilewright_fpu_scaled(${powers}, y, ${n.length}, ${n.y_step}, 1.0f / total);
% endif
}

TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
% for at, line in enumerate(n.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
    ${"    " * len(n.lines)}${f.name}_line(${x}, ${y}${", scratch" if lined else ""});
% for at in reversed(range(len(n.lines))):
    ${"    " * at}}
% endfor
}
