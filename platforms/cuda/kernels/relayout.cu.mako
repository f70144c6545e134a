${f.storage} void ${f.name}(const int element, ${f.parameters})
{
    (void)element;
% for line in k.places:
    ${line}
% endfor
    y[${k.target}] = x[${k.source}];
}
