${f.storage} void ${f.name}(${f.parameters})
{
% for name in k.unread:
    (void)${name};
% endfor
    (void)memcpy(y, ${k.source}, ${k.size_bytes});
% if k.mask:
    for (int i = 0; i < ${k.mask}; i++) {
        mask[i] = 1;
    }
% endif
}
