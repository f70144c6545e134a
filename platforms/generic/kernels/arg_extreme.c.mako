${f.storage} void ${f.name}(${f.parameters})
{
% for around in k.loops:
    for (int ${around.name} = 0; ${around.name} < ${around.extent}; ${around.name}++) {
% endfor
        const ${k.c_type} *const row = ${k.line};
        ${k.value_type} best = ${k.first};
        int place = 0;
% if k.turns:
        for (int i = 1; i < ${k.whole}; i += ${len(k.turns)}) {
            const ${k.c_type} *const at = row + ${k.step};
% for look in k.turns:
            const ${k.value_type} ${look.name} = ${look.value};
            if (${look.better}) {
                best = ${look.name};
                place = ${look.place};
            }
% endfor
        }
% endif
% for look in k.rest:
        const ${k.value_type} ${look.name} = ${look.value};
        if (${look.better}) {
            best = ${look.name};
            place = ${look.place};
        }
% endfor
        y[${k.result}] = place;
% for around in k.loops:
    }
% endfor
}
