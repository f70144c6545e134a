
% if m.kit:
/* What lives from call to call: its bytes lie in the memory that ${m.kit}_state gives, from these offsets on. */
% else:
/* What lives from call to call: it takes ${m.upper}_STATE_BYTES beside the arena, and nothing else is ever put there. */
% endif
#define ${m.upper}_STATE_BYTES ${s.size_bytes}
#define ${m.upper}_STATE_COUNT ${len(s.states)}
% for one in s.states:
/* state ${one.index}: ${one.comment} */
#define ${m.upper}_STATE_${one.index}_OFFSET ${one.offset}
#define ${m.upper}_STATE_${one.index}_BYTES ${one.size_bytes}
% endfor
