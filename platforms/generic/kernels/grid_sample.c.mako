<% R, f32 = k.real, k.f %>\
% if k.padding == "reflection":
/* A position mirrored at both borders until it lies between them. */
${f.storage} ${R} ${f.name}_reflect(${R} v, int size)
{
% if k.aligned:
    const ${R} low = 0, high = (${R})(size - 1);
% else:
    const ${R} low = (${R})-0.5, high = (${R})size - (${R})0.5;
% endif
    const ${R} span = high - low;
    if (span <= 0) {
        return low;
    }
    if (v >= low && v <= high) {
        return v;
    }
    const ${R} distance = v < low ? low - v : v - high;
    const ${R} turns = trunc${f32}(distance / span);
    const ${R} rest = distance - turns * span;
    const int even = fmod${f32}(turns, 2) == 0;
    return (v < low) == even ? low + rest : high - rest;
}

% endif
${f.storage} void ${f.name}(${f.parameters})
{
    static const int sizes[${k.rank}] = {${k.sizes}};
    static const int steps[${k.rank}] = {${k.steps}};
    for (int point = 0; point < ${k.batch * k.points}; point++) {
        int32_t at[${k.rank}][${k.taps}];
        ${R} weight[${k.rank}][${k.taps}];
        for (int axis = 0; axis < ${k.rank}; axis++) {
            const int size = sizes[axis];
            const ${R} normalised = ${k.position_of(f"grid[point * {k.rank} + {k.rank - 1} - axis]")};
% if k.aligned:
            ${R} v = (normalised + 1) / 2 * (${R})(size - 1);
% else:
            ${R} v = ((normalised + 1) * (${R})size - 1) / 2;
% endif
            if (!(v > -1e9${f32} && v < 1e9${f32})) {
                v = -100;
            }
% if k.mode != "cubic" and k.padding == "border":
            v = v < 0 ? 0 : v > (${R})(size - 1) ? (${R})(size - 1) : v;
% elif k.mode != "cubic" and k.padding == "reflection":
            v = ${f.name}_reflect(v, size);
% endif
% if k.mode == "nearest":
            at[axis][0] = (int32_t)rint${f32}(v);
            weight[axis][0] = 1;
% else:
            const ${R} whole = floor${f32}(v);
            const ${R} ratio = v - whole;
% if k.mode == "linear":
            at[axis][0] = (int32_t)whole;
            at[axis][1] = (int32_t)whole + 1;
            weight[axis][0] = 1 - ratio;
            weight[axis][1] = ratio;
% else:
            const ${R} a = (${R})-0.75, one = ratio + 1, two = 2 - ratio, rest = 1 - ratio;
            for (int tap = 0; tap < 4; tap++) {
                at[axis][tap] = (int32_t)whole - 1 + tap;
            }
            weight[axis][0] = ((a * one - 5 * a) * one + 8 * a) * one - 4 * a;
            weight[axis][1] = ((a + 2) * ratio - (a + 3)) * ratio * ratio + 1;
            weight[axis][2] = ((a + 2) * rest - (a + 3)) * rest * rest + 1;
            weight[axis][3] = ((a * two - 5 * a) * two + 8 * a) * two - 4 * a;
% endif
% endif
            for (int tap = 0; tap < ${k.taps}; tap++) {
                int32_t place = at[axis][tap];
                if (place < 0 || place >= size) {
% if k.padding == "zeros":
                    weight[axis][tap] = 0;
% elif k.padding == "reflection":
                    place = (int32_t)${f.name}_reflect((${R})place, size);
% endif
                    place = place < 0 ? 0 : place >= size ? size - 1 : place;
                }
                at[axis][tap] = place * steps[axis];
            }
        }
        const int entry = point / ${k.points};
        for (int channel = 0; channel < ${k.channels}; channel++) {
            const int plane = entry * ${k.channels} + channel;
            ${R} total = 0;
            for (int i = 0; i < ${k.combinations}; i++) {
                int place = 0, rest = i;
                ${R} factor = 1;
                for (int axis = ${k.rank - 1}; axis >= 0; axis--) {
                    place += (int)at[axis][rest % ${k.taps}];
                    factor *= weight[axis][rest % ${k.taps}];
                    rest /= ${k.taps};
                }
                total += ${k.pixel_of(f"x[plane * {k.pixels} + place]")} * factor;
            }
            y[plane * ${k.points} + point % ${k.points}] = ${k.element_of("total")};
        }
    }
}
