<%include file="/model_head.c.mako"/>\
% for text in m.sources:

${text}
% endfor
% for text in m.functions:

${text}
% endfor
% for text in parts.ports:

${text}\
% endfor

${parts.run}\
