${f.storage} void ${f.name}(${f.parameters})
{
% for line in k.declarations:
    ${line}
% endfor
% for nest in k.nests:
    /* ${nest.comment} */
% for line in nest.lines:
    ${line}
% endfor
% endfor
}
