<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${page.title}</title>
<style>
:root { --ink: #1d2530; --faint: #667281; --line: #d8dee6; --paper: #ffffff; --card: #f6f8fa;
  --activation: #4477aa; --io: #228833; --scratch: #ccbb44; --copy_buffer: #ee6677; --table: #aa3377;
  --padding: #bbbbbb; --constant: #66ccee; --stack: #ee9944; --code: #8877cc; --good: #1a7f37; --bad: #c0262d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --faint: #9aa6b4; --line: #343d49; --paper: #12161c; --card: #1a2028; --good: #4ac26b; --bad: #ff7b72; }
}
* { box-sizing: border-box; }
p { overflow-wrap: anywhere; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
.wide { overflow-x: auto; }
th { text-align: left; color: var(--faint); font-weight: 500; }
th, td { padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
.name { white-space: normal; overflow-wrap: anywhere; min-width: 10rem; }
.figure { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: flex; height: 1.1rem; border-radius: 4px; overflow: hidden; background: var(--line); margin: .5rem 0; }
.bar span { height: 100%; }
.small { height: .3rem; background: var(--activation); border-radius: 2px; margin-left: auto; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .35rem; vertical-align: -1px; }
.legend span.item { margin-right: 1.1rem; white-space: nowrap; }
.head { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: baseline; }
.head b { font-size: 1.05rem; }
.faint { color: var(--faint); }
.good { color: var(--good); }
.bad { color: var(--bad); }
input[type=search] { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
  border-radius: 6px; padding: .3rem .6rem; width: 18rem; max-width: 100%; }
svg { width: 100%; height: auto; display: block; margin: .6rem 0; background: var(--paper); border: 1px solid var(--line); }
svg rect.buffer { stroke: var(--paper); stroke-width: 1; vector-effect: non-scaling-stroke; }
svg rect.buffer:hover { stroke: var(--ink); stroke-width: 2; }
svg rect.dim { opacity: .12; }
svg rect.worst { fill: none; stroke: var(--bad); stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
svg line { stroke: var(--faint); stroke-dasharray: 2 3; vector-effect: non-scaling-stroke; }
.shown { min-height: 1.5em; }
% for kind in ("activation", "io", "scratch", "copy_buffer", "table", "padding", "constant", "stack", "code"):
.${kind}, .${kind}s { fill: var(--${kind}); background: var(--${kind}); }
% endfor
.copy { background: var(--copy_buffer); }
</style>
</head>
<body>
<h1>${page.title}</h1>
<div class="card"><dl>
% for label, value in page.facts:
<dt>${label}</dt><dd>${value}</dd>
% endfor
</dl></div>
% if page.run:
<h2>Run</h2>
<div class="card">
% for line in page.run:
<div class="${('good' if page.run_ok else 'bad') if loop.first else ''}">${line}</div>
% endfor
</div>
% endif
<h2>Memory</h2>
<p><input type="search" id="search" placeholder="find a buffer or a layer" aria-label="find a buffer or a layer"></p>
% for level in page.levels:
<div class="card level">
<div class="head"><b>${level.name}</b><span>${level.used} B</span>
<span class="${'bad' if 'not' in level.status else 'good'}">${level.status}</span>
% if level.readonly:
<span class="faint">read only</span>
% endif
</div>
<div class="bar">
% for part in level.parts:
<span class="${part.name}" style="width: ${'%.3f' % part.percent}%" title="${part.name}: ${part.size} B"></span>
% endfor
</div>
<div class="legend">
% for part in level.parts:
<span class="item"><span class="key ${part.name}"></span>${part.name} ${part.size}</span>
% endfor
</div>
% if level.map:
<svg viewBox="0 0 ${page.width} ${page.height}" preserveAspectRatio="none" role="img" aria-label="buffers of ${level.name} over time and addresses">
% for box in level.map.boxes:
<rect class="buffer ${box.kind}" data-name="${box.name}" x="${'%.2f' % box.x}" y="${'%.2f' % box.y}" width="${'%.2f' % box.width}" height="${'%.2f' % box.height}"><title>${box.title}</title></rect>
% endfor
<rect class="worst" x="${'%.2f' % level.map.worst[0]}" y="0" width="${'%.2f' % level.map.worst[1]}" height="${page.height}" pointer-events="none"/>
% for line in level.map.lines:
<line x1="0" x2="${page.width}" y1="${'%.2f' % line.y}" y2="${'%.2f' % line.y}" pointer-events="none"><title>${line.label}</title></line>
% endfor
</svg>
<div class="faint">Time runs to the right, one column per instruction; addresses run upwards.
% for line in level.map.lines:
${line.label}.
% endfor
</div>
<div class="shown" aria-live="polite"></div>
<p>${level.map.worst_caption}</p>
<table>
<tr><th>buffer</th><th>kind</th><th class="figure">bytes</th></tr>
% for name, kind, size in level.map.worst_alive:
<tr data-name="${name}"><td class="name">${name}</td><td>${kind}</td><td class="figure">${size}</td></tr>
% endfor
</table>
% endif
</div>
% endfor
% if page.layers:
<h2>Layers</h2>
<div class="card wide"><table>
<tr><th class="figure">#</th><th>layer</th><th>op</th><th>kernel</th><th>numerics</th><th>tile</th><th class="figure">macs</th><th class="figure">bytes moved</th>
% if page.measured_in:
<th class="figure">${page.measured_in}</th>
% endif
<th class="figure">error</th></tr>
% for layer in page.layers:
<tr data-name="${layer.name}"><td class="figure">${layer.index}</td><td class="name">${layer.name}</td><td>${layer.op}</td><td>${layer.kernel}</td><td>${layer.numerics}</td><td>${layer.tile}</td>
<td class="figure">${layer.macs}<div class="small" style="width: ${'%.2f' % layer.macs_percent}%"></div></td>
<td class="figure">${layer.moved}<div class="small" style="width: ${'%.2f' % layer.moved_percent}%"></div></td>
% if page.measured_in:
<td class="figure">${layer.measured}<div class="small" style="width: ${'%.2f' % layer.measured_percent}%"></div></td>
% endif
<td class="figure">${layer.error}</td></tr>
% endfor
</table></div>
% endif
<script>
"use strict";
document.querySelectorAll("rect.buffer").forEach((box) => {
  const shown = box.closest(".level").querySelector(".shown");
  box.addEventListener("mouseenter", () => { shown.textContent = box.querySelector("title").textContent; });
});
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  document.querySelectorAll("rect.buffer").forEach((box) => {
    box.classList.toggle("dim", !box.dataset.name.toLowerCase().includes(wanted));
  });
  document.querySelectorAll("tr[data-name]").forEach((row) => {
    row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
  });
});
</script>
</body>
</html>
