<%def name="work(stage)">\
% if m.double and not stage.engine:
work${stage.number}[t % 2] = (${stage.kernel}_work){
% else:
${"" if stage.engine else "const "}${stage.kernel}_work work${stage.number} = {
% endif
% for a in stage.arguments:
            ${a.at}, /* ${a.name} */
% endfor
            tiles[t].numbers${stage.number},
% if stage.engine:
            0,
% endif
        };\
</%def>\
% for stage in m.stages:
% if stage.engine:
<%
    following = m.following(stage)
    beside = f", const {following.kernel}_work *next" if following else ""
%>\
/* Start the first job of a tile, which is written already, and write and start the second. */
static void ${m.name}_first${stage.number}(const ${stage.kernel}_work *work)
{
    tilewright_${stage.engine}_start();
    if (${stage.kernel}_jobs(&work->tile) > 1) {
        ${stage.kernel}_writing(work, 1);
        tilewright_${stage.engine}_start();
    }
}

/* One tile as jobs of the engine, of which the first two run: one is computed while the cores finish the one before, and
 * the next one is written${f", with the last one the first of {following.comment}" if following else ""}. */
static void ${m.name}_jobs${stage.number}(${stage.kernel}_work *work${beside})
{
    const int jobs = ${stage.kernel}_jobs(&work->tile);
    for (int job = 0; job < jobs; job++) {
        tilewright_${stage.engine}_wait();
        work->job = job;
        tilewright_begin(${stage.functions[0]}, work);
        if (job + 2 < jobs) {
            ${stage.kernel}_writing(work, job + 2);
        }
% if following:
        if (job + 1 == jobs) {
            ${following.kernel}_writing(next, 0);
        }
% endif
        tilewright_end();
        if (job + 2 < jobs) { /* only now is there room for its results */
            tilewright_${stage.engine}_start();
        }
    }
}

% endif
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
% if not stage.engine:
    ${stage.kernel}_work work${stage.number}[2]; /* of this tile and of the next */
% endif
% endfor
% endif
    tilewright_future moving = tilewright_start(copies, 0, ${m.loaded}, ${m.level}, home);
    for (int t = 0; t < ${m.count}; t++) {
% for stage in m.stages[:1] if m.early else m.stages:
        ${work(stage)}
% endfor
% if m.double and not last.engine:
        if (t > 0) {
            tilewright_end(); /* of the tile before */
        }
% endif
% if m.early:
        ${m.stages[0].kernel}_writing(&work0, 0); /* its words alone: nothing is read yet */
% endif
        tilewright_wait(moving);
% if m.early:
        ${m.name}_first0(&work0);
% for stage in m.stages[1:]:
        ${work(stage)}
% endfor
% endif
% for stage in m.stages:
<%
    beside = f", &work{m.following(stage).number}" if stage.engine and m.following(stage) else ""
    opening = [f"{stage.kernel}_writing(&work{stage.number}, 0);"] * (not m.written_ahead(stage))
    opening += [f"{m.name}_first{stage.number}(&work{stage.number});"] * (not (m.early and stage is m.stages[0]))
%>\
% if stage.guard:
        if ((tiles[t].computed & ${stage.guard}u) != 0) {
% if stage.engine:
% for line in opening:
            ${line}
% endfor
            ${m.name}_jobs${stage.number}(&work${stage.number}${beside});
% else:
% for function in stage.functions:
            tilewright_begin(${function}, &work${stage.number}${given});
            tilewright_end();
% endfor
% endif
        }
% elif stage.engine:
% if m.double and stage is always:
        ${start}
% endif
% for line in opening:
        ${line}
% endfor
        ${m.name}_jobs${stage.number}(&work${stage.number}${beside});
% else:
% for function in stage.functions:
        tilewright_begin(${function}, &work${stage.number}${given});
% if m.double and stage is always and loop.first:
        ${start}
% endif
% if not (m.double and stage is last and loop.last):
        tilewright_end();
% endif
% endfor
% endif
% endfor
% if not m.double:
        ${start}
% endif
    }
% if m.double:
% if not last.engine:
    tilewright_end();
% endif
    tilewright_wait(moving);
    moving = tilewright_start(copies, tiles[${m.count - 1}].end, ${len(m.copies.rows)}, ${m.level}, home);
% endif
    tilewright_wait(moving);
}
