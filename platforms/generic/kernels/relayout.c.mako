${f.storage} void ${f.name}(${f.parameters})
{
% if k.contiguous:
    (void)memcpy(y, x, ${k.elements} * sizeof *y);
% else:
% for depth, digit in enumerate(k.loops):
    ${"    " * depth}for (int i${depth} = 0; i${depth} < ${digit.extent}; i${depth}++) {
% endfor
    ${"    " * len(k.loops)}y[${k.target}] = x[${k.source}];
% for depth in reversed(range(len(k.loops))):
    ${"    " * depth}}
% endfor
% endif
}
