/* One tile: the loops that the cores share, and the boxes of operands that do not follow from them. */
typedef struct {
    int ${", ".join(k.members)};
} ${f.name}_tile;

/* Every core computes some results, run by run along ${k.run}. */
static void ${f.name}(${f.parameters})
{
    const ${f.name}_tile box = *tile; /* a copy, which no store can change */
% for line in k.declarations:
    ${line}
% endfor
    const int share_total = ${k.total};
    int share_at = tilewright_share(share_total, core, cores);
    int share_left = tilewright_share(share_total, core + 1, cores) - share_at;
% for line in k.start:
    ${line}
% endfor
    while (share_left > 0) {
        const int share_run = box.${k.run}_end - ${k.run} < share_left ? box.${k.run}_end : ${k.run} + share_left;
        share_left -= share_run - ${k.run};
        for (; ${k.run} < share_run; ${k.run}++) {
% for nest in k.nests:
            /* ${nest.comment} */
% for line in nest.lines:
            ${line}
% endfor
% endfor
        }
% for line in k.step:
        ${line}
% endfor
    }
}
