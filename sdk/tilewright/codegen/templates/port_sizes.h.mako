% for word, ports in (("INPUT", m.inputs), ("OUTPUT", m.outputs)):
#define ${m.upper}_${word}_COUNT ${len(ports)}
% for p in ports:
/* ${word.lower()} ${p.index}: ${p.comment} */
#define ${m.upper}_${word}_${p.index}_BYTES ${p.size_bytes}
#define ${m.upper}_${word}_${p.index}_ELEMENTS ${p.elements}
#define ${m.upper}_${word}_${p.index}_RANK ${len(p.shape)}
% for axis, extent in enumerate(p.shape):
#define ${m.upper}_${word}_${p.index}_DIM_${axis} ${extent}
% endfor
% if p.scale is not None:
#define ${m.upper}_${word}_${p.index}_SCALE ${p.scale}
#define ${m.upper}_${word}_${p.index}_ZERO_POINT (${p.zero_point})
% endif
% endfor
% endfor
