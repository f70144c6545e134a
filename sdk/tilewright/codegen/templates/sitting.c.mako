/* What the cores are given for all turns, beside them: which they take, and of each stage its pointers and numbers. */
typedef struct {
    tilewright_turn turns[${len(m.turns) + 1}];
% for stage in m.stages:
    ${stage.kernel}_work work${stage.number};
% endfor
} ${m.name}_program;

/* ${m.comment}. */
static void ${m.name}(${m.parameters})
{
    static const ${m.name}_program program = {
        {
% for turn in m.turns:
            {${turn.function}, ${m.level} + ${m.place} + offsetof(${m.name}_program, work${turn.stage}), ${turn.started}, ${turn.done}},${f" /* {turn.comment} */" if turn.comment else ""}
% endfor
            {NULL, NULL, 0, 0},
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
    /* Byte in ${m.level}, byte at home, bytes of a run, distance of runs at home, runs, operand, store. */
    static const ${m.copies.struct.name} copies[${len(m.copies.rows) + 1}] = {
        {${m.place}, 0, sizeof(${m.name}_program), 0, 1, 0, 0},
% for line in m.copies.lines:
        ${line}
% endfor
    };
    static const ${m.lists.struct.name} lists[${len(m.lists.rows)}] = {
% for line in m.lists.lines:
        ${line}
% endfor
    };
    static unsigned char *const constants[${len(m.constants) + 1}] = {
        (unsigned char *)(uintptr_t)&program,
% for name in m.constants:
        (unsigned char *)(uintptr_t)${name},
% endfor
    };
    unsigned char *const home[${len(m.homes)}] = {
% for name in m.homes:
        (unsigned char *)(uintptr_t)${name},
% endfor
    };
    const tilewright_sitting sitting = {copies, lists, ${len(m.lists.rows)}, ${m.first}, constants, home, ${m.level}};
    tilewright_sit(&sitting, (const tilewright_turn *)(const void *)(${m.level} + ${m.place}));
}
