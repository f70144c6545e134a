% for word, ports in (("input", m.inputs), ("output", m.outputs)):
% for p in ports:
${p.c_type} *${m.name}_${word}_${p.index}(${m.instance});
% endfor
% endfor
