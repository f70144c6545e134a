<% most = 'taken' if k.counted else k.count %>\
<% places = 'places, ' if k.indexed else '' %>\
${f.storage} int ${f.name}_before(${k.c_type} a, ${k.c_type} b)
{
% if k.converted:
    const float e0 = ${k.real_of("a")}, e1 = ${k.real_of("b")};
% endif
    return ${k.before};
}

/* Element `i` of a row, at the end of those found, before all that it stands before. */
${f.storage} void ${f.name}_move_up(${k.c_type} *top, ${'int64_t *places, ' if k.indexed else ''}${k.c_type} here, int i, int last)
{
    top[last * ${k.inner}] = here;
% if k.indexed:
    places[last * ${k.inner}] = i;
% endif
    for (int rank = last; rank > 0 && ${f.name}_before(here, top[(rank - 1) * ${k.inner}]); rank--) {
        top[rank * ${k.inner}] = top[(rank - 1) * ${k.inner}];
        top[(rank - 1) * ${k.inner}] = here;
% if k.indexed:
        places[rank * ${k.inner}] = places[(rank - 1) * ${k.inner}];
        places[(rank - 1) * ${k.inner}] = i;
% endif
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% if k.counted:
    const int taken = k[0] < 0 ? 0 : k[0] > ${k.count} ? ${k.count} : (int)k[0];
% endif
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int inner = 0; inner < ${k.inner}; inner++) {
            const ${k.c_type} *row = x + outer * ${k.size * k.inner} + inner;
            ${k.c_type} *const top = values + outer * ${k.count * k.inner} + inner;
% if k.indexed:
            int64_t *const places = indices + outer * ${k.count * k.inner} + inner;
% endif
            for (int i = 0; i < ${most}; i++) {
                ${f.name}_move_up(top, ${places}row[i * ${k.inner}], i, i);
            }
% if k.counted:
            for (int i = taken; taken > 0 && i < ${k.size}; i++) {
% else:
            for (int i = ${k.count}; i < ${k.size}; i++) {
% endif
                if (${f.name}_before(row[i * ${k.inner}], top[(${most} - 1) * ${k.inner}])) {
                    ${f.name}_move_up(top, ${places}row[i * ${k.inner}], i, ${most} - 1);
                }
            }
% if k.counted:
            for (int rank = taken; rank < ${k.count}; rank++) {
                top[rank * ${k.inner}] = ${k.padding};
% if k.indexed:
                places[rank * ${k.inner}] = 0;
% endif
            }
% endif
        }
    }
% if k.counted:
    count[0] = taken;
% endif
}
