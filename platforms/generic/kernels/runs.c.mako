static void ${f.name}(${f.parameters})
{
% for line in k.declarations:
    ${line}
% endfor
% for copy in k.copies:
    /* ${copy.comment} */
% for depth, (name, extent) in enumerate(copy.loops):
    ${"    " * depth}for (int ${name} = 0; ${name} < ${extent}; ${name}++) {
% endfor
% if copy.unit:
    ${"    " * len(copy.loops)}tilewright_run_${copy.unit}(${copy.to} + ${copy.target}, ${copy.source} + ${copy.place}, ${copy.length});
% else:
    ${"    " * len(copy.loops)}${copy.to}[${copy.target}] = ${copy.source}[${copy.place}];
% endif
% for depth in reversed(range(len(copy.loops))):
    ${"    " * depth}}
% endfor
% endfor
}
