
/* What lives from call to call: it takes ${m.upper}_STATE_BYTES beside the arena, and nothing else is ever put there. */
#define ${m.upper}_STATE_BYTES ${s.size_bytes}
#define ${m.upper}_STATE_COUNT ${len(s.states)}
% for one in s.states:
/* state ${one.index}: ${one.comment} */
#define ${m.upper}_STATE_${one.index}_OFFSET ${one.offset}
#define ${m.upper}_STATE_${one.index}_BYTES ${one.size_bytes}
% endfor
