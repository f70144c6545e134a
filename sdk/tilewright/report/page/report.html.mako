<%namespace name="parts" file="parts.mako"/>\
<!doctype html>
<html lang="en">
<head>
${parts.head(f"{page.title} on {page.target}", style)}
</head>
<body>
<a class="skip" href="${'#network' if page.graph else '#layers'}">to the ${'network' if page.graph else 'layers'}</a>
<header class="top">
<div><h1>${page.title}</h1><p class="note">on ${page.target}</p></div>
<p class="verdict ${'good' if page.fits else 'bad'}">${page.verdict}</p>
</header>
<main>
<section class="cards" aria-label="summary">
% for level in page.levels:
${parts.level_card(level)}
% endfor
<article class="card figures">
% for figure in page.figures:
<div><h3>${figure.name}</h3><p class="big ${'' if figure.good is None else 'good' if figure.good else 'bad'}">${figure.value}<small> ${figure.unit}</small></p><p class="note">${figure.note}</p></div>
% endfor
</article>
</section>
<div class="tools" role="search">
<input type="search" id="search" placeholder="find a layer or a buffer  ( / )" aria-label="find a layer or a buffer" autocomplete="off">
<output id="hits" class="note"></output>
<nav aria-label="parts of the page">
% if page.graph:
<a href="#network">network</a>
% endif
% if page.maps:
<a href="#memory">memory</a>
% endif
% if page.timeline:
<a href="#timeline">timeline</a>
% endif
% if page.data_set:
<a href="#samples">samples</a>
% endif
<a href="#layers">layers</a> <a href="#about">about</a>
</nav>
</div>
% if page.graph:
<section id="network" aria-labelledby="h-network">
<div class="line"><h2 id="h-network">Network</h2>
<label class="colour">coloured by <select id="colour">
% for colouring in page.costs.colourings:
<option value="${loop.index}">${colouring.label}</option>
% endfor
</select></label><span class="ramp" aria-hidden="true"><i></i><span id="rampmost"></span></span></div>
<div class="network">
<div class="canvas">
<svg id="graph" viewBox="0 0 ${'%.0f' % page.graph.width} ${'%.0f' % page.graph.height}" data-w="${'%.0f' % page.graph.width}" data-h="${'%.0f' % page.graph.height}" role="group" aria-label="the network as a graph; arrow keys walk, Enter shows a layer, plus and minus zoom" tabindex="0">
% for group in page.graph.groups:
<g class="group ${group.kind}" data-l="${group.layer}"><rect x="${'%.0f' % group.x}" y="${'%.0f' % group.y}" width="${'%.0f' % group.width}" height="${'%.0f' % group.height}" rx="12"/><text x="${'%.0f' % (group.x + 12)}" y="${'%.0f' % (group.y + 19)}">${group.label}</text></g>
% endfor
% for edge in page.graph.edges:
<path class="edge" data-s="${edge.source}" data-t="${edge.target}" d="${edge.path}" stroke-width="${'%.1f' % edge.thickness}"${f' data-b="{edge.size}"' if edge.size else '' | n}/>
% endfor
% for node in page.graph.nodes:
% if node.layer < 0:
<g class="node ${node.kind}" transform="translate(${'%.0f' % node.x} ${'%.0f' % node.y})"><title>${node.full}</title><rect width="${'%.0f' % node.width}" height="${'%.0f' % node.height}" rx="14"/><text x="${'%.0f' % (node.width / 2)}" y="18" text-anchor="middle">${node.label}</text></g>
% elif node.kind == "view":
<g class="node view" data-l="${node.layer}" transform="translate(${'%.0f' % node.x} ${'%.0f' % node.y})"><rect width="${'%.0f' % node.width}" height="${'%.0f' % node.height}" rx="8"/><text class="op" x="11" y="17">${node.op}</text></g>
% else:
<g class="node ${node.kind}" data-l="${node.layer}" transform="translate(${'%.0f' % node.x} ${'%.0f' % node.y})"><rect/><text class="op" x="11" y="19">${node.op}</text><text class="nm" x="11" y="35">${node.label}</text></g>
% endif
% endfor
</svg>
<svg id="mini" preserveAspectRatio="none" aria-hidden="true"></svg>
<div class="buttons"><button type="button" id="closer" aria-label="zoom in">+</button><button type="button" id="further" aria-label="zoom out">−</button><button type="button" id="whole" aria-label="show all">⤢</button></div>
</div>
<aside id="details" aria-live="polite" aria-label="the chosen layer"><p class="note">Choose a layer: in the graph, in a map or in the table.</p></aside>
</div>
</section>
% endif
% if page.maps:
<section id="memory" aria-labelledby="h-memory">
<div class="line"><h2 id="h-memory">Memory over time</h2><div class="buttons zoomer"><button type="button" data-zoom="2" aria-label="stretch time">+</button><button type="button" data-zoom="0.5" aria-label="compress time">−</button></div></div>
<svg width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="7" height="7" patternTransform="rotate(45)" patternUnits="userSpaceOnUse"><rect class="stripe" width="2" height="7"/></pattern></defs></svg>
% for view in page.maps:
<article class="card">
<h3>${view.level}</h3>
<div class="with">
${parts.level_map(view)}
${parts.peak(view)}
</div>
</article>
% endfor
</section>
% endif
% if page.timeline:
<section id="timeline" aria-labelledby="h-timeline">
<%
lane = 38 if page.timeline.engine else 0
tall = 132 + lane
%>\
<div class="line"><h2 id="h-timeline">Cores${f", {page.timeline.engine}" if page.timeline.engine else ""} and copies</h2><p class="note">${page.timeline.total} cycles ${page.timeline.source}: computing ${page.timeline.computing}, waiting ${page.timeline.waiting}</p>
<div class="buttons zoomer"><button type="button" data-zoom="2" aria-label="stretch time">+</button><button type="button" data-zoom="0.5" aria-label="compress time">−</button></div></div>
<article class="card">
<div class="plotted">
<svg class="axis" width="64" height="${tall}" aria-hidden="true"><text x="58" y="50">cores</text>
% if page.timeline.engine:
<text x="58" y="88">engine</text>
% endif
<text x="58" y="${88 + lane}">copies</text></svg>
<div class="scroll" tabindex="0" role="region" aria-label="layers over time in cycles">
<svg class="wide plot times" height="${tall}" role="group" aria-label="what computes and what is copied">
% for tick in page.timeline.ticks:
<line class="gridline" x1="${'%.3f' % (100 * tick.at)}%" x2="${'%.3f' % (100 * tick.at)}%" y1="24" y2="${108 + lane}"/><text class="tick" x="${'%.3f' % (100 * tick.at)}%" y="${124 + lane}" text-anchor="${'end' if tick.at > .97 else 'middle' if tick.at else 'start'}">${tick.label}</text>
% endfor
% for one in page.timeline.stretches:
<svg class="stretch" data-l="${one.layer}" x="${'%.4f' % one.x}%" width="${'%.4f' % one.width}%" height="${112 + lane}"><title>${one.title}</title><rect class="ground" width="100%" height="${112 + lane}"/><text x="4" y="15">${one.name}</text><rect class="waits" y="30" width="100%" height="32"/><svg viewBox="0 0 ${one.length} 1" preserveAspectRatio="none" y="30" width="100%" height="32"><path class="${'cores' if one.spans.tiles else 'alone'}" d="${one.cores}"/></svg>
% if page.timeline.engine:
<svg viewBox="0 0 ${one.length} 1" preserveAspectRatio="none" y="68" width="100%" height="32"><path class="engine" d="${one.engine}"/></svg>
% endif
<svg viewBox="0 0 ${one.length} 1" preserveAspectRatio="none" y="${68 + lane}" width="100%" height="32"><path class="copies" d="${one.copies}"/></svg></svg>
% endfor
</svg>
</div></div>
<ul class="legend"><li><span class="key cores"></span>kernels in tiles</li><li><span class="key alone"></span>a layer that runs whole, on one core</li><li><span class="key waits"></span>cores wait</li>
% if page.timeline.engine:
<li><span class="key engine"></span>jobs of ${page.timeline.engine}, whose results the cores finish</li>
% endif
<li><span class="key copies"></span>copies</li></ul>
<p class="shown" aria-live="polite">Where copies run below a kernel they cost nothing; where the upper lane is pale, the cores wait for them.</p>
</article>
</section>
% endif
% if page.data_set:
${parts.data_set(page.data_set)}
% endif
<section id="layers" aria-labelledby="h-layers">
<div class="line"><h2 id="h-layers">Layers</h2>
% if page.costs.heaviest:
<p class="note">${page.costs.unit} ${page.costs.source}. Most go to
% for layer, name, share in page.costs.heaviest:
<button type="button" class="link" data-l="${layer}">${name}</button> ${share}${'' if loop.last else ','}
% endfor
</p>
% endif
</div>
<div class="card table"><table id="costs" class="sorts">
<thead><tr><th scope="col" aria-sort="ascending" data-first="ascending"><button type="button">#</button></th><th scope="col" class="text">layer</th><th scope="col" class="text">operator</th><th scope="col" class="text">kernel</th>
% for head, meaning in page.costs.heads:
<th scope="col" title="${meaning}"><button type="button">${head}</button></th>
% endfor
</tr></thead>
% for group in page.costs.groups:
<tbody${' class="chain"' if group[0].kind == 'chain' else '' | n}>
% for row in group:
<tr class="${row.kind}" data-l="${row.layer}"><td>${row.layer if row.kind != 'inside' or len(group) > 1 and group[0].kind == 'chain' else ''}</td><th scope="row"><button class="link">${row.name}</button></th><td>${row.op}</td><td>${row.kernel}</td>\
% for cell in row.cells:
<td${f' class="share" style="--p:{cell.bar:.3f}"' if cell.bar is not None else '' | n}>${cell.text}</td>\
% endfor
</tr>
% endfor
</tbody>
% endfor
</table></div>
</section>
<section id="about" aria-labelledby="h-about">
<h2 id="h-about">About</h2>
<div class="card two">
<dl>
% for label, value in page.facts:
<dt>${label}</dt><dd>${value}</dd>
% endfor
</dl>
% if page.run:
<div class="run"><h3>The run</h3>
% for line in page.run:
<p>${line}</p>
% endfor
</div>
% endif
</div>
</section>
</main>
<script type="application/json" id="data">${page.data | n}</script>
<script>
${script | n}
</script>
</body>
</html>
