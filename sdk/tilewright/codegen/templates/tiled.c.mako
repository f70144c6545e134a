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
    static const ${m.copies.struct.name} copies[${len(m.copies.rows)}] = {
% for line in m.copies.lines:
        ${line}
% endfor
    };
    /* Per tile: the copies that start ${"while it is computed: operands of the next, results of the one before" if m.double else "when it is done: operands of the next, its results"}. */
    static const struct {
% for members in m.tiles.struct.members:
        ${members.declaration}
% endfor
    } tiles[${m.count}] = {
% for line in m.tiles.lines:
        ${line}
% endfor
    };
    unsigned char *const home[${len(m.homes)}] = {
% for name in m.homes:
        (unsigned char *)(uintptr_t)${name},
% endfor
    };
<%
    always = next(stage for stage in m.stages if not stage.guard)
    last = m.stages[-1]
    given = "[t % 2]" if m.double else ""
    start = f"moving = tilewright_start(copies, tiles[t].first, tiles[t].end, {m.level}, home);"
%>\
% if m.double:
% for stage in m.stages:
    ${m.name}_work${stage.number} work${stage.number}[2]; /* of this tile and of the next */
% endfor
% endif
    tilewright_future moving = tilewright_start(copies, 0, ${m.loaded}, ${m.level}, home);
    for (int t = 0; t < ${m.count}; t++) {
% for stage in m.stages:
% if m.double:
        work${stage.number}[t % 2] = (${m.name}_work${stage.number}){
% else:
        const ${m.name}_work${stage.number} work${stage.number} = {
% endif
% for a in stage.arguments:
            ${a.at}, /* ${a.name} */
% endfor
            tiles[t].numbers${stage.number},
        };
% endfor
% if m.double:
        if (t > 0) {
            tilewright_end(); /* of the tile before */
        }
% endif
        tilewright_wait(moving);
% for stage in m.stages:
% if stage.guard:
        if ((tiles[t].computed & ${stage.guard}u) != 0) {
            tilewright_begin(${m.name}_core${stage.number}, &work${stage.number}${given});
            tilewright_end();
        }
% else:
        tilewright_begin(${m.name}_core${stage.number}, &work${stage.number}${given});
% if m.double and stage is always:
        ${start}
% endif
% if not (m.double and stage is last):
        tilewright_end();
% endif
% endif
% endfor
% if not m.double:
        ${start}
% endif
    }
% if m.double:
    tilewright_end();
    tilewright_wait(moving);
    moving = tilewright_start(copies, tiles[${m.count - 1}].end, ${len(m.copies.rows)}, ${m.level}, home);
% endif
    tilewright_wait(moving);
}
