${f.storage} void ${f.name}(${f.parameters})
{
    if (y != x) {
        TILEWRIGHT_RUN(y, x, ${k.elements});
    }
% for depth, level in enumerate(k.loops):
    ${"    " * depth}for (int ${level.name} = 0; ${level.name} < ${level.extent}; ${level.name}++) {
% endfor
<% tab = "    " * (len(k.loops) + 1) %>\
${tab}const int at = tilewright_index((int64_t)indices[${k.index}], ${k.size});
% if k.reads:
${tab}const ${k.local} e0 = ${k.real_of(f"y[{k.target}]")};
% endif
${tab}const ${k.local} e1 = ${k.real_of(f"updates[{k.index}]")};
% for line in k.stores(f"y[{k.target}]"):
${tab}${line}
% endfor
% for depth in reversed(range(len(k.loops))):
    ${"    " * depth}}
% endfor
}
