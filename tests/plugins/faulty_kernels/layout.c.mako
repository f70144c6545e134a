<% maps, points = k %>\
static void ${f.name}(${f.parameters})
{
    for (int map = 0; map < ${maps}; map++) {
        y[map] = x[map * ${points}];
        for (int at = 1; at < ${points}; at++) {
            const float value = x[map * ${points} + at];
            y[map] = value > y[map] ? value : y[map];
        }
    }
}
