## Pieces that several pages share: the head, the card of a level, the map of a level.
<%def name="head(title, style)">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${title}</title>
<style>
${style | n}
</style>
</%def>
<%def name="bar(parts)">
<div class="bar" aria-hidden="true">
% for part in parts:
<span class="k-${part.name.replace(' ', '_')}" style="width:${'%.3f' % part.percent}%" title="${part.name} ${part.size} B"></span>
% endfor
</div>
<ul class="legend">
% for part in parts:
<li><span class="key k-${part.name.replace(' ', '_')}"></span>${part.name} <b>${part.size}</b></li>
% endfor
</ul>
</%def>
<%def name="level_card(level)">
<article class="card level">
<h3>${level.name}</h3>
<p class="big ${'' if level.fits else 'bad'}">${level.needed}<small> B</small></p>
<p class="note">${f'{level.used} of {level.size}' if level.size else 'size not limited'}, ${level.status}</p>
${bar(level.parts)}
</article>
</%def>
<%def name="level_map(view)">
<div class="map" data-level="${view.level}">
<div class="plotted">
<svg class="axis" width="64" height="${view.tall + 56 + 8}" aria-hidden="true">
% for tick in view.ticks:
<text x="58" y="${'%.1f' % (56 + view.tall * (1 - tick.at) + 4)}">${tick.label}</text>
% endfor
<text x="58" y="14" class="strong">in use</text>
</svg>
<div class="scroll" tabindex="0" role="region" aria-label="map of ${view.level}: steps of the plan to the right, addresses upwards">
<svg class="wide plot" height="${view.tall + 56 + (124 if view.steps else 24)}" role="group" aria-label="buffers of ${view.level}">
<svg class="use" viewBox="0 0 100 100" preserveAspectRatio="none" y="18" width="100%" height="30"><path d="${view.use}"/></svg>
<rect class="peakband" x="${'%.3f' % view.peak_x}%" y="18" width="${'%.3f' % view.step_width}%" height="${view.tall + 38}"/>
<text class="peaklabel" x="${'%.3f' % (view.peak_x if view.peak_x < 50 else view.peak_x + view.step_width)}%" y="12" text-anchor="${'start' if view.peak_x < 50 else 'end'}">peak ${view.most} B at step ${view.peak_step}</text>
% for tick in view.ticks:
<line class="gridline" x1="0" x2="100%" y1="${'%.1f' % (56 + view.tall * (1 - tick.at))}" y2="${'%.1f' % (56 + view.tall * (1 - tick.at))}"/>
% endfor
<svg y="56" width="100%" height="${view.tall}" overflow="visible">
% for box in view.boxes:
<svg class="box k-${box.kind}${' alias' if box.inside else ''}" data-l="${box.layer}"${f' data-r="{" ".join(map(str, box.readers))}"' if box.readers else '' | n} x="${'%.2f' % box.x}%" y="${'%.1f' % box.y}" width="${'%.2f' % box.width}%" height="${'%.1f' % box.height}"><title>${box.title}</title><rect/>
% if box.height >= 13:
<text x="5" y="${'%.1f' % (box.height - 5 if box.inside else min(14, box.height / 2 + 4))}">${box.name}</text>
% endif
% if box.height >= 32 and not box.inside:
<text class="size" x="5" y="28">${box.size}</text>
% endif
</svg>
% endfor
% for both in view.shared:
<rect class="shared" x="${'%.2f' % both.x}%" y="${'%.1f' % both.y}" width="${'%.2f' % both.width}%" height="${'%.1f' % both.height}" fill="url(#hatch)"><title>${both.title}</title></rect>
% endfor
% for line in view.lines:
<line class="limit ${line.kind}" x1="0" x2="100%" y1="${'%.1f' % line.y}" y2="${'%.1f' % line.y}"/><text class="limit" x="100%" dx="-4" y="${'%.1f' % (line.y + 13)}" text-anchor="end">${line.label}</text>
% endfor
</svg>
% for step, name in enumerate(view.steps):
<text class="stepname" data-l="${step}" x="${'%.2f' % ((step + .5) * view.step_width)}%" y="${view.tall + 62}">${name}</text>
% endfor
% if not view.steps:
<text class="axisname" x="50%" y="${view.tall + 74}" text-anchor="middle">steps of the plan</text>
% endif
</svg>
</div>
</div>
<p class="shown" aria-live="polite">Each box is a buffer: left to right while it lives, from its lowest to its highest address. Hatched bytes belong to two at once.</p>
</div>
</%def>
<%def name="peak(view)">
<div class="peak">
<h4>At the peak${f', while {view.peak_layer} runs' if view.peak_layer else ''}</h4>
<ol>
% for row in view.peak_rows[:12]:
<li data-l="${row.layer}" title="${row.full}"><span class="key k-${row.kind}"></span><span class="who">${row.name}</span><span class="figure">${row.size} B</span><span class="share" style="--p:${'%.3f' % (row.percent / 100)}"></span></li>
% endfor
</ol>
% if len(view.peak_rows) > 12:
<p class="note">and ${len(view.peak_rows) - 12} smaller ones</p>
% endif
% if view.peak_note:
<p class="note">${view.peak_note}</p>
% endif
</div>
</%def>
<%def name="data_set(view)">
<section id="samples" aria-labelledby="h-samples">
<div class="line"><h2 id="h-samples">Samples</h2><p class="note">${view.title}</p></div>
<div class="card table">
% if view.rows:
<table class="confusion"><caption>a row per label, a column per prediction</caption>
<thead><tr><th scope="col">label</th>
% for n in range(len(view.rows)):
<th scope="col">${n}</th>
% endfor
</tr></thead>
<tbody>
% for row in view.rows:
<tr><th scope="row">${loop.index}</th>\
% for cell in row:
<td${f' class="{cell.kind}" style="--p:{cell.share:.3f}"' if cell.kind else '' | n}>${cell.text}</td>\
% endfor
</tr>
% endfor
</tbody></table>
% endif
% for line in view.lines:
<p class="note">${line}</p>
% endfor
</div>
</section>
</%def>
