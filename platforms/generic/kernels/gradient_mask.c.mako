<%
axes = list(zip(k.sizes, *k.steps))
loops = ["i%d" % at for at in range(len(axes))]
codes_at = " + ".join("%s * %d" % (name, a) for name, (_, a, _) in zip(loops, axes) if a) or "0"
y_at = " + ".join("%s * %d" % (name, b) for name, (_, _, b) in zip(loops, axes))
%>\
static void ${f.name}(${f.parameters})
{
% for at, (size, _, _) in enumerate(axes):
${"    " * (at + 1)}for (int i${at} = 0; i${at} < ${size}; i${at}++) {
% endfor
<% inside = "    " * (len(axes) + 1) %>\
${inside}const int at = ${y_at};
${inside}masked[at] = ${k.open("y[at]")} ? codes[${codes_at}] : (int8_t)0;
% for at in reversed(range(len(axes))):
${"    " * (at + 1)}}
% endfor
}
