% for stage in m.stages:
/* What the cores are given of one tile of ${stage.comment}. */
typedef struct {
% for a in stage.arguments:
    ${a.declaration};
% endfor
    ${stage.tile_type} tile;
} ${m.name}_work${stage.number};

static void ${m.name}_core${stage.number}(const void *given, int core, int cores)
{
    const ${m.name}_work${stage.number} *const work = given;
    ${stage.kernel}(${"".join(f"work->{a.name}, " for a in stage.arguments)}&work->tile, core, cores);
}

% endfor
/* ${m.comment}. */
static void ${m.name}(${m.parameters})
{
    /* Byte in ${m.level}, byte at home, bytes of a run, distance of runs at home, runs, operand, store. */
    static const tilewright_copy copies[${len(m.copies)}] = {
% for c in m.copies:
        {${c.near}, ${c.far}, ${c.size}, ${c.stride}, ${c.runs}, ${c.operand}, ${int(c.store)}},
% endfor
    };
    /* Per tile: the ends of its loads that start a tile early, of its other loads, and of its stores. */
    static const struct {
        int early, late, stores;
% for buffer in m.buffers:
        int ${buffer};
% endfor
% if m.guarded:
        unsigned computed;
% endif
% for stage in m.stages:
        ${stage.tile_type} numbers${stage.number};
% endfor
    } tiles[${m.count}] = {
% for t in m.tiles:
        {${t.early}, ${t.late}, ${t.stores}, ${"".join(f"{b}, " for b in t.buffers)}${f"{t.computed}u, " if m.guarded else ""}${", ".join("{" + n + "}" for n in t.numbers)}}, /* ${t.comment} */
% endfor
    };
    unsigned char *const home[${len(m.homes)}] = {
% for name in m.homes:
        (unsigned char *)(uintptr_t)${name},
% endfor
    };
% if m.double:
    tilewright_future early = tilewright_start(copies, 0, tiles[0].early, ${m.level}, home);
    tilewright_future late = tilewright_start(copies, tiles[0].early, tiles[0].late, ${m.level}, home);
    tilewright_future stored[${m.waits_behind}] = {0};
% endif
    for (int t = 0; t < ${m.count}; t++) {
<%
    # what runs beside the first stage of a tile; the stores of the tile before where a second buffer takes this one's
    beside = m.double and not m.stages[0].guard
    behind = beside and m.waits_behind > 1
%>\
<%def name="starts(indent)">\
% if behind:
${indent}if (t > 0) {
${indent}    stored[(t - 1) % ${m.waits_behind}] = tilewright_start(copies, tiles[t - 1].late, tiles[t - 1].stores, ${m.level}, home);
${indent}}
% endif
${indent}if (t + 1 < ${m.count}) { /* into the buffers that this tile does not use */
${indent}    early = tilewright_start(copies, tiles[t].stores, tiles[t + 1].early, ${m.level}, home);
${indent}}
</%def>\
% if m.double:
        tilewright_wait(early);
        tilewright_wait(late);
        early = 0;
% if not beside:
${starts("        ")}\
% endif
        tilewright_wait(stored[t % ${m.waits_behind}]); /* the buffer that this tile writes is free again */
% else:
        tilewright_wait(tilewright_start(copies, t == 0 ? 0 : tiles[t - 1].stores, tiles[t].late, ${m.level}, home));
% endif
% for stage in m.stages:
% if stage.guard:
        if ((tiles[t].computed & ${stage.guard}u) != 0) {
% else:
        {
% endif
            const ${m.name}_work${stage.number} work = {
% for a in stage.arguments:
                ${a.at.replace("tile->", "tiles[t].")}, /* ${a.name} */
% endfor
                tiles[t].numbers${stage.number},
            };
            tilewright_begin(${m.name}_core${stage.number}, &work);
% if beside and loop.first:
${starts("            ")}\
% endif
            tilewright_end();
        }
% endfor
% if m.double:
% if not behind:
        stored[t % ${m.waits_behind}] = tilewright_start(copies, tiles[t].late, tiles[t].stores, ${m.level}, home);
% endif
        late = 0;
        if (t + 1 < ${m.count}) {
            late = tilewright_start(copies, tiles[t + 1].early, tiles[t + 1].late, ${m.level}, home);
        }
% else:
        tilewright_wait(tilewright_start(copies, tiles[t].late, tiles[t].stores, ${m.level}, home));
% endif
    }
% if behind:
    stored[${(m.count - 1) % m.waits_behind}] = tilewright_start(copies, tiles[${m.count - 1}].late, tiles[${m.count - 1}].stores, ${m.level}, home);
% endif
% if m.double:
% for i in range(m.waits_behind):
    tilewright_wait(stored[${i}]);
% endfor
% endif
}
