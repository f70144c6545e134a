<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evidence of ${e.name} on ${e.target}</title>
<style>
${style | n}
</style>
</head>
<body>
<h1>Evidence of ${e.name} on ${e.target}</h1>
<p class="note">platform ${e.platform}, ${e.identity.tool.name} ${e.identity.tool.version}; the same as data in <code>evidence.json</code>, checksum <code>${e.checksum}</code></p>
% if problems:
<h3 class="bad">${len(problems)} ${"fault" if len(problems) == 1 else "faults"}</h3>
<ul class="bad">
% for sentence in problems:
<li>${sentence}</li>
% endfor
</ul>
% else:
<p class="good">No fault was found in the sections below.</p>
% endif
% if remarks:
<h3>For the reviewer to judge</h3>
<ul>
% for sentence in remarks:
<li>${sentence}</li>
% endfor
</ul>
% endif
<nav aria-label="sections">
<a href="#identity">hashes</a>
% for name in sections:
% if getattr(e, name) is not None:
<a href="#${name}">${name}</a>
% endif
% endfor
</nav>

<h2 id="identity">What was built</h2>
<p><code>tilewright evidence verify</code> with this folder makes all of it again and compares hash by hash. In the folder, the command was <code>tilewright evidence ${" ".join(e.command)}</code></p>
% if e.identity.missing:
<p class="bad">Not built: ${e.identity.missing}</p>
% elif e.identity.elf_repeated:
<p>Two builds in folders of different names gave the same image, byte for byte.</p>
% endif
% if e.identity.flags:
<p>Flags of the network's files: <code>${e.identity.flags}</code>, and <code>-std=c99</code>.</p>
% endif
<div class="wide"><table>
<tr><th>what</th><th>name</th><th>version</th><th>SHA-256</th></tr>
<tr><td>model</td><td>${e.identity.model.name}</td><td></td><td><code>${e.identity.model.sha256}</code></td></tr>
<tr><td>tool, all sources</td><td>${e.identity.tool.name}</td><td>${e.identity.tool.version}</td><td><code>${e.identity.tool.sha256}</code></td></tr>
% for one in e.identity.compiler:
<tr><td>compiler</td><td class="k">${one.name}</td><td>${one.version}</td><td><code>${one.sha256}</code></td></tr>
% endfor
% for one in e.identity.inputs:
<tr><td>input</td><td>${one.name}</td><td></td><td><code>${one.sha256}</code></td></tr>
% endfor
% for one in e.identity.sources:
<tr><td>generated</td><td class="k">${one.name}</td><td></td><td><code>${one.sha256}</code></td></tr>
% endfor
% for one in e.identity.objects:
<tr><td>machine code of</td><td class="k">${one.name}</td><td></td><td><code>${one.sha256}</code></td></tr>
% endfor
% if e.identity.elf:
<tr><td>image</td><td>${e.identity.elf.name}</td><td></td><td><code>${e.identity.elf.sha256}</code></td></tr>
% endif
</table></div>

% if e.replication:
<h2 id="replication">Replication criterion</h2>
<p>${e.replication.match_text}.</p>
<div class="wide"><table>
<tr><th>output</th><th>type</th><th>criterion</th></tr>
% for one in e.replication.outputs:
<tr><td>${one.output}</td><td>${one.dtype}${list(one.shape)}</td><td>${one.statement}</td></tr>
% endfor
</table></div>
% for one in e.replication.outputs:
% if one.bounds:
<h3>Bounds of ${one.output}</h3>
<div class="wide"><table>
<tr><th>bound on |C - exact| of the largest element</th><th class="n">value</th><th></th></tr>
<tr><td>certain, for every input in the ranges below (interval analysis)</td><td class="n">${real(one.bounds.over_ranges)}</td><td>${ratio(one.bounds, one.bounds.over_ranges)}</td></tr>
<tr><td>certain, at the first vectors (four at most), however roundings fall (affine analysis)</td><td class="n">${real(one.bounds.at_vectors)}</td><td>${ratio(one.bounds, one.bounds.at_vectors)}</td></tr>
<tr><td>certain, at all vectors, where kernels add in the order that they declare; ${one.bounds.order}</td><td class="n">${real(one.bounds.in_order)}</td><td>${ratio(one.bounds, one.bounds.in_order)}</td></tr>
<tr><td>likely, at the first vectors (four at most), if roundings are independent and of mean zero; fails with a chance of ${real(one.bounds.chance)}</td><td class="n">${real(one.bounds.likely)}</td><td>${ratio(one.bounds, one.bounds.likely)}</td></tr>
<tr><td>observed over ${number(one.bounds.vectors)} ${"vector" if one.bounds.vectors == 1 else "vectors"}, against sums in double precision</td><td class="n">${real(one.bounds.observed)}</td><td></td></tr>
</table></div>
% endif
% if one.steps:
<details><summary>Derivation for ${one.output}: what each of ${len(one.steps)} nodes brings to the largest element, at the first vector</summary>
<div class="wide"><table>
<tr><th>node</th><th>operator</th><th>rule</th><th class="n">brings</th></tr>
% for step in one.steps:
<tr><td>${step.node}</td><td>${step.op}</td><td>${step.rule or step.why}</td><td class="n">${real(step.bound) if step.bound is not None else "no bound"}</td></tr>
% endfor
</table></div></details>
% endif
% endfor
% if e.replication.ranges:
<h3>Ranges of inputs</h3>
<div class="wide"><table>
<tr><th>input</th><th class="n">from</th><th class="n">to</th><th>origin</th></tr>
% for one in e.replication.ranges:
<tr><td>${one.input}</td><td class="n">${real(one.low)}</td><td class="n">${real(one.high)}</td><td>${one.origin}</td></tr>
% endfor
</table></div>
% endif
% if e.replication.assumptions:
<h3>What the bounds assume</h3>
<ul>
% for sentence in e.replication.assumptions:
<li>${sentence}</li>
% endfor
</ul>
% endif
% if e.replication.proved:
<details><summary>${len(e.replication.proved)} nodes compute exactly</summary>
<div class="wide"><table>
<tr><th>node</th><th>operator</th><th>why</th></tr>
% for one in e.replication.proved:
<tr><td>${one.node}</td><td>${one.op}</td><td>${one.rule}</td></tr>
% endfor
</table></div></details>
% endif
% endif

% if e.contracts:
<h2 id="contracts">Contracts of the operators</h2>
<p class="note">The operators of the compiled network. Shapes are static; a type with a q stands for codes with a scale and a zero point.</p>
% for one in e.contracts.operators:
<details><summary>${one.op} of ${one.domain}, opset ${one.opset}: ${len(one.nodes)} ${"node" if len(one.nodes) == 1 else "nodes"}</summary>
<p class="note">nodes: ${few(one.nodes)}</p>
<div class="wide"><table>
<tr><th>operand</th><th>types</th><th>domain of values</th></tr>
% for operand in one.inputs:
<tr><td>${operand.name}</td><td>${few(operand.types)}</td><td>${operand.domain}</td></tr>
% endfor
% for operand in one.outputs:
<tr><td>result ${operand.name}</td><td>${few(operand.types)}</td><td>${operand.domain}</td></tr>
% endfor
</table></div>
% if one.attributes:
<p>Attributes in use: ${few(one.attributes, 30)}.</p>
% endif
<p>Error conditions:</p><ul>
% for sentence in one.errors:
<li>${sentence}</li>
% endfor
</ul>
<p>Arithmetic of the kernels: ${few(one.numerics)}. Shown by:</p><ul>
% for sentence in one.tests:
<li>${sentence}</li>
% endfor
</ul></details>
% endfor
% endif

% if e.trace:
<h2 id="trace">Traceability</h2>
% if e.trace.missing:
<p class="bad">${e.trace.missing}</p>
% else:
<p class="${'bad' if e.trace.unmatched else 'good'}">${len(e.trace.nodes)} nodes, ${len(e.trace.instructions)} instructions, ${len(e.trace.symbols)} symbols: ${f"{len(e.trace.unmatched)} unmatched" if e.trace.unmatched else "all are matched in both directions"}.</p>
<p class="note">Lines come from the debug information of an image that loads the same bytes as the one that ships.</p>
<h3>Instructions of the plan</h3>
<div class="wide"><table>
<tr><th class="n">no.</th><th>instruction</th><th>kernel</th><th>nodes of the file</th><th>lines of C</th><th>symbols</th><th>constants</th></tr>
% for one in e.trace.instructions:
<tr><td class="n">${one.index}</td><td>${one.op} ${one.name}</td><td class="k">${one.kernel}</td><td>${few(one.nodes) if one.nodes else one.origin}</td><td>
% for part in one.code:
<code>${part.function}:${part.first}${"" if part.last == part.first else f"-{part.last}"}</code>
% endfor
${one.why}</td><td><code>${few(one.symbols)}</code></td><td><code>${few(one.constants)}</code></td></tr>
% endfor
</table></div>
<details><summary>Forward: ${len(e.trace.nodes)} nodes of the file</summary>
<div class="wide"><table>
<tr><th class="n">no.</th><th>node</th><th>operator</th><th>instruction</th><th>what became of it</th></tr>
% for one in e.trace.nodes:
<tr><td class="n">${one.number}</td><td>${one.name}</td><td>${one.op}</td><td>${one.instruction if one.instruction >= 0 else "none"}</td><td>${one.fate or "UNMATCHED"}</td></tr>
% endfor
</table></div></details>
<details><summary>Back: ${len(e.trace.symbols)} symbols of the image</summary>
<div class="wide"><table>
<tr><th>symbol</th><th>kind</th><th class="n">bytes</th><th class="n">lines</th><th>instructions</th><th>purpose</th></tr>
% for one in e.trace.symbols:
<tr><td><code>${one.name}</code></td><td>${one.kind}</td><td class="n">${number(one.size_bytes)}</td><td class="n">${one.lines or ""}</td><td>${few(one.instructions, 40)}</td><td>${one.purpose or "UNMATCHED"}</td></tr>
% endfor
</table></div></details>
% endif
% endif

% if e.memory:
<h2 id="memory">Memory</h2>
% if e.memory.missing:
<p class="bad">Nothing was built, code and stack are estimates: ${e.memory.missing}</p>
% endif
<div class="wide"><table>
<tr><th>level</th><th class="n">needed, B</th><th class="n">there are, B</th><th class="n">lower bound</th><th>placement</th><th>parts</th></tr>
% for one in e.memory.levels:
<tr><td>${one.name}</td><td class="n">${number(one.total)}</td><td class="n">${number(one.size) if one.size else "not limited"}</td><td class="n">${number(one.lower_bound) if one.lower_bound is not None else ""}</td><td>${one.status}</td><td>${few(tuple(f"{name.replace('_', ' ')} {size:,}" + (f" ({one.provenance[name]})" if name in one.provenance else "") for name, size in one.parts.items()))}</td></tr>
% endfor
</table></div>
% if e.memory.stack_bytes is not None:
<p>Stack of one call: ${number(e.memory.stack_bytes)} bytes, ${"proved: the compiler's call graph has no recursion, no unknown call and no frame of unknown size" if e.memory.stack_proved else f"beside these functions of libraries, whose frames the compiler does not tell: {few(e.memory.stack_unknown)}"}. The deepest path: <code>${" > ".join(e.memory.stack_path)}</code></p>
% endif
<p>${f"Fences that watched every access of a run: {few(e.memory.fences)}." if e.memory.fences else "No fence watched a run."}</p>
<p class="note">The placement follows the decisions in <code>inputs/decisions.json</code>; the lower bound is that of the bytes alive at once. The search that made these decisions may have proved a higher one: <code>tilewright check</code> tells it.</p>
<h3>Log of the independent checkers</h3>
<div class="wide"><table>
<tr><th>check</th><th>what it holds</th><th class="n">items</th><th>verdict</th></tr>
% for one in e.memory.checks:
<tr><td class="k">${one.name}</td><td>${one.holds}</td><td class="n">${number(one.items)}</td><td class="${'good' if one.passed else 'bad'}">${"passed" if one.passed else one.fault}</td></tr>
% endfor
</table></div>
<details><summary>Placement: ${len(e.memory.places)} buffers</summary>
<div class="wide"><table>
<tr><th>buffer</th><th class="n">offset</th><th class="n">bytes</th><th class="n">alive from</th><th class="n">to</th></tr>
% for one in e.memory.places:
<tr><td>${one.buffer}</td><td class="n">${number(one.offset)}</td><td class="n">${number(one.size_bytes)}</td><td class="n">${one.first}</td><td class="n">${one.last}</td></tr>
% endfor
</table></div></details>
% endif

% if e.time:
<h2 id="time">Instructions of one run</h2>
% if e.time.missing:
<p class="bad">${e.time.missing}</p>
% else:
<p>At least ${number(e.time.cost.least)} and at most ${number(e.time.cost.most)} instructions, over all inputs, by the machine code of the image that ships.
% if e.time.core:
Modelled cycles of a ${e.time.core}: ${number(e.time.cost.least_cycles)} to ${number(e.time.cost.most_cycles)}.
% endif
</p>
% if e.time.slices:
<p>${len(e.time.slices)} slices; the longest takes at most ${number(max(one.cost.most for one in e.time.slices))} instructions.</p>
% endif
<div class="wide"><table>
<tr><th>layer</th><th>operator</th><th class="n">at least</th><th class="n">at most</th></tr>
% for one in e.time.layers:
<tr><td>${one.name}</td><td>${one.op}</td><td class="n">${number(one.cost.least) if one.cost else "data decide"}</td><td class="n">${number(one.cost.most) if one.cost else ""}</td></tr>
% endfor
</table></div>
<details><summary>${len(e.time.places)} branches that data decide</summary>
<div class="wide"><table>
<tr><th>function</th><th>line</th><th class="n">times</th><th class="n">ways differ by at most</th><th class="n">in all</th></tr>
% for one in e.time.places:
<tr><td><code>${one.function}</code></td><td>${one.line or ""}</td><td class="n">${number(one.times)}</td><td class="n">${number(one.most)}</td><td class="n">${number(one.instructions)}</td></tr>
% endfor
</table></div></details>
<p>Dead code: ${f"lines {few(e.time.dead, 20)}, of whose machine code no input reaches anything" if e.time.dead else "none, every line with machine code is reached by some input"}; ${number(sum(one.instructions for one in e.time.unreached))} instructions in all lie in copies that no input takes.</p>
% if e.time.unreached:
<details><summary>instructions that no input reaches</summary>
<div class="wide"><table>
<tr><th>function</th><th>line</th><th class="n">instructions</th><th>the line itself</th></tr>
% for one in e.time.unreached:
<tr><td><code>${one.function}</code></td><td>${one.line}</td><td class="n">${one.instructions}</td><td>${"dead" if one.dead else "another copy of it runs"}</td></tr>
% endfor
</table></div></details>
% endif
<ul>
% for sentence in e.time.assumptions:
<li>assumed: ${sentence}</li>
% endfor
</ul>
% endif
% endif

% if e.proofs:
<h2 id="proofs">Proofs of layers</h2>
% if e.proofs.missing:
<p class="bad">${e.proofs.missing}</p>
% else:
<p class="${'bad' if e.proofs.proof.refuted else 'good'}">The machine code of ${e.proofs.proof.proved} of ${len(e.proofs.proof.layers)} layers is proved to compute what the operator means, for all codes of its operands, on these shapes with these weights.</p>
<div class="wide"><table>
<tr><th>layer</th><th>operator</th><th>kernel</th><th>verdict</th><th class="n">elements</th><th class="n">functions</th><th>why not</th></tr>
% for one in e.proofs.proof.layers:
<tr><td>${one.name}</td><td>${one.op}</td><td class="k">${one.kernel}</td><td class="${'bad' if one.verdict == 'refuted' else ''}">${one.verdict}</td><td class="n">${number(one.elements) if one.elements else ""}</td><td class="n">${number(one.functions) if one.functions else ""}</td><td>${one.why}</td></tr>
% endfor
</table></div>
<ul>
% for sentence in e.proofs.proof.assumptions:
<li>assumed: ${sentence}</li>
% endfor
</ul>
% endif
% endif

% if e.misra:
<h2 id="misra">MISRA C:2012</h2>
% if e.misra.missing:
<p class="bad">${e.misra.missing}</p>
% else:
<p>${e.misra.tool} with its addon over ${few(e.misra.files)}: ${number(e.misra.mandatory)} departures from mandatory rules, ${number(e.misra.required)} from required, ${number(e.misra.advisory)} from advisory ones; ${number(e.misra.open)} of the first two kinds are covered by no record of deviation.</p>
<p class="note">Rules by number and category; their text is MISRA's. The addon does not check every rule.</p>
<div class="wide"><table>
<tr><th>rule</th><th>category</th><th class="n">places</th><th>where</th><th>reason</th></tr>
% for one in e.misra.findings:
<tr><td>${one.rule}</td><td>${one.category}</td><td class="n">${len(one.places)}</td><td><code>${few(one.places, 6)}</code></td><td>${one.reason}</td></tr>
% endfor
</table></div>
% if e.misra.records:
<h3>Records of deviation</h3>
<div class="wide"><table>
<tr><th>record</th><th>rule</th><th>where</th><th>reason</th><th>what keeps it safe</th></tr>
% for one in e.misra.records:
<tr><td>${one.number}</td><td>${one.rule}</td><td>${one.where}</td><td>${one.reason}</td><td>${one.safe}</td></tr>
% endfor
</table></div>
% endif
% for sentence in e.misra.unchecked:
<p class="bad">${sentence}</p>
% endfor
% endif
% endif

% if e.coverage:
<h2 id="coverage">Structural coverage</h2>
% if e.coverage.missing:
<p class="bad">${e.coverage.missing}</p>
% else:
<p>${number(e.coverage.vectors)} ${"vector" if e.coverage.vectors == 1 else "vectors"} on ${e.coverage.target}, ${e.coverage.tool}, with the flags that ship: ${number(sum(f.lines_run for f in e.coverage.functions))} of ${number(sum(f.lines for f in e.coverage.functions))} lines with code ran, ${number(sum(f.branches_taken for f in e.coverage.functions))} of ${number(sum(f.branches for f in e.coverage.functions))} branch outcomes were taken.</p>
<p>${e.coverage.mcdc}.</p>
<div class="wide"><table>
<tr><th>function</th><th>instructions</th><th class="n">lines</th><th class="n">ran</th><th class="n">branch outcomes</th><th class="n">taken</th><th class="n">MC/DC</th><th>lines that never ran</th></tr>
% for one in e.coverage.functions:
<tr><td><code>${one.function or "the file"}</code></td><td>${few(one.instructions)}</td><td class="n">${one.lines}</td><td class="n">${one.lines_run}</td><td class="n">${one.branches}</td><td class="n">${one.branches_taken}</td><td class="n">${f"{one.conditions_shown} of {one.conditions}" if one.conditions else ""}</td><td>${few(one.never, 20)}</td></tr>
% endfor
</table></div>
% endif
% endif
</body>
</html>
