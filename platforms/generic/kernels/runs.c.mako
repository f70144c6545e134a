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
% if copy.length > 1:
    ${"    " * len(copy.loops)}TILEWRIGHT_RUN(${copy.to if copy.target == '0' else f'{copy.to} + {copy.target}'}, ${copy.source if copy.place == '0' else f'{copy.source} + {copy.place}'}, ${copy.length});
% else:
    ${"    " * len(copy.loops)}${copy.to}[${copy.target}] = ${copy.source}[${copy.place}];
% endif
% for depth in reversed(range(len(copy.loops))):
    ${"    " * depth}}
% endfor
% endfor
}
