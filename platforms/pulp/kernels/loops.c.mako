/* One tile: the loops that the cores share, and the boxes of operands that do not follow from them. */
typedef struct {
    int ${", ".join(k.members)};
} ${f.name}_tile;

/* Every core computes some results, one after the other. */
static void ${f.name}(${f.parameters})
{
% for line in k.declarations:
    ${line}
% endfor
    const int share_total = ${k.total};
    int share_at = tilewright_share(share_total, core, cores);
    int share_left = tilewright_share(share_total, core + 1, cores) - share_at;
% for line in k.start:
    ${line}
% endfor
    for (; share_left > 0; share_left--) {
% for nest in k.nests:
        /* ${nest.comment} */
% for line in nest.lines:
        ${line}
% endfor
% endfor
% for line in k.step:
        ${line}
% endfor
    }
}
