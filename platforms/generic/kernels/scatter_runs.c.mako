<% tab = "    " * (len(k.counts) + 1) %>\
${k.attribute} ${f.storage} void ${f.name}(${f.parameters})
{
    if (y != x) {
        TILEWRIGHT_RUN(y, x, ${k.scatter.elements});
    }
% for depth, count in enumerate(k.counts):
    ${"    " * depth}for (int i${depth} = 0; i${depth} < ${count}; i${depth}++) {
% endfor
${tab}const int from = ${k.from_};
${tab}const int to = ${k.to};
% if k.plain:
${tab}TILEWRIGHT_RUN(y + to, updates + from, ${k.length});
% else:
${tab}for (int j = 0; j < ${k.length}; j++) {
% if k.scatter.reads:
${tab}    const ${k.scatter.local} e0 = ${k.scatter.real_of("y[to + j]")};
% endif
${tab}    const ${k.scatter.local} e1 = ${k.scatter.real_of("updates[from + j]")};
% for line in k.scatter.stores("y[to + j]"):
${tab}    ${line}
% endfor
${tab}}
% endif
% for depth in reversed(range(len(k.counts))):
    ${"    " * depth}}
% endfor
}
