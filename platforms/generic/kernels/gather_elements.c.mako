${f.storage} void ${f.name}(${f.parameters})
{
% for depth, level in enumerate(k.loops):
    ${"    " * depth}for (int ${level.name} = 0; ${level.name} < ${level.extent}; ${level.name}++) {
% endfor
    ${"    " * len(k.loops)}const int at = tilewright_index((int64_t)indices[${k.index}], ${k.size});
    ${"    " * len(k.loops)}y[${k.index}] = x[${k.source}];
% for depth in reversed(range(len(k.loops))):
    ${"    " * depth}}
% endfor
}
