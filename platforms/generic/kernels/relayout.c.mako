${f.storage} void ${f.name}(${f.parameters})
{
% if k.contiguous:
    (void)memcpy(y, x, ${k.elements} * sizeof *y);
% else:
% for depth, digit in enumerate(k.counted):
    ${"    " * depth}for (int i${depth} = 0; i${depth} < ${digit.extent}; i${depth}++) {
% endfor
% for target, source in k.moves:
    ${"    " * len(k.counted)}y[${target}] = x[${source}];
% endfor
% for depth in reversed(range(len(k.counted))):
    ${"    " * depth}}
% endfor
% endif
}
