/* What lies beside the cores: their turns, and of each stage its pointers and numbers; copies and lists for the driver. */
typedef struct {
    tilewright_turn turns[${len(m.turns) + 1}];
    ${m.copies.struct.name} copies[${len(m.copies.rows) + 1}];
    ${m.lists.struct.name} lists[${len(m.lists.rows)}];
    unsigned char *constants[${len(m.constants) + 1}];
% for stage in m.stages:
    ${stage.kernel}_work work${stage.number};
% endfor
} ${m.name}_program;

/* ${m.comment}. */
static void ${m.name}(
% for one in m.given:
    ${one.declaration}${"" if loop.last else ","} /* ${one.comment} */
% endfor
)
{
    static const ${m.name}_program program = {
        {
% for turn in m.turns:
            {${turn.function}, ${m.level} + ${m.place}u + offsetof(${m.name}_program, work${turn.stage}), ${turn.started}, ${turn.done}},${f" /* {turn.comment} */" if turn.comment else ""}
% endfor
            {NULL, NULL, 0, 0},
        },
        { /* byte in ${m.level}, byte at home, bytes of a run, distance of runs at home, runs, operand, store */
            {${m.place}, 0, sizeof(${m.name}_program), 0, 1, 0, 0},
% for line in m.copies.lines:
            ${line}
% endfor
        },
        {
% for line in m.lists.lines:
            ${line}
% endfor
        },
        {
            (unsigned char *)(uintptr_t)&program,
% for name in m.constants:
            (unsigned char *)(uintptr_t)${name},
% endfor
        },
% for stage in m.stages:
        {
% for a in stage.arguments:
            ${a.at}, /* ${a.name} */
% endfor
            ${m.numbers[stage.number]},
        },
% endfor
    };
    unsigned char *const home[${len(m.homes)}] = {
% for name in m.homes:
        (unsigned char *)(uintptr_t)${name},
% endfor
    };
    const ${m.name}_program *const near = (const ${m.name}_program *)(const void *)(${m.level} + ${m.place});
    tilewright_sitting sitting = {
        .copies = program.copies, .lists = program.lists, .constants = program.constants, .home = home, .fast = ${m.level}, .turn = near->turns,
    };
    tilewright_start_lists(&sitting, ${m.first});
    tilewright_wait_lists(&sitting, 1); /* the program is there */
    sitting.copies = near->copies;
    sitting.lists = near->lists;
    sitting.constants = near->constants;
% for pause in m.pauses:
    tilewright_take(&sitting, ${pause.turns});
% if pause.stored:
    tilewright_wait_lists(&sitting, ${pause.stored}); /* what is read now */
% endif
% for call, comment in pause.calls:
    ${call}; /* ${comment} */
% endfor
    tilewright_start_lists(&sitting, ${pause.started});
% endfor
    tilewright_take(&sitting, ${m.remaining});
    tilewright_finish(&sitting, ${len(m.lists.rows)});
}
