<%
n = k.numbers
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(n.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(n.lines))])
lined = k.gathered or k.logarithm
elements = range(n.length)
%>\
<%def name="each_line()">\
% for at, line in enumerate(n.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
${caller.body()}\
% for at in reversed(range(len(n.lines))):
    ${"    " * at}}
% endfor
</%def>\
% if k.few:
TILEWRIGHT_FLOAT void ${f.name}_lower(const float *x, float *y)
{
% for at in elements:
    const float v${at} = x[${at * n.x_step}];
% endfor
    float largest = v0;
% for at in elements[1:]:
    largest = v${at} > largest ? v${at} : largest;
% endfor
% for at in elements:
    y[${at * n.y_step}] = v${at} - largest;
% endfor
}

TILEWRIGHT_FLOAT void ${f.name}_share(float *y)
{
% for at in elements:
    const float v${at} = y[${at * n.y_step}];
% endfor
    const float factor = 1.0f / (${" + ".join(f"v{at}" for at in elements)});
% for at in elements:
    y[${at * n.y_step}] = v${at} * factor;
% endfor
}

/* Every line less its largest, powers of all elements at once, every line by its sum. */
TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
<%call expr="each_line()">\
    ${"    " * len(n.lines)}${f.name}_lower(${x}, ${y});
</%call>\
    (void)tilewright_fpu_raised(y, y, ${k.elements}, 0.0f);
<%call expr="each_line()">\
    ${"    " * len(n.lines)}${f.name}_share(${y});
</%call>\
}
% else:
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
<%call expr="each_line()">\
    ${"    " * len(n.lines)}${f.name}_line(${x}, ${y}${", scratch" if lined else ""});
</%call>\
}
% endif
