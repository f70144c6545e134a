"use strict";
// One network: whatever stands for a layer has data-l, its number in the plan. Looking at one lights all of them.
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (id) => document.getElementById(id);
const svgNS = "http://www.w3.org/2000/svg";
const byLayer = new Map();
const add = (map, key, value) => (map.get(key) ?? map.set(key, []).get(key)).push(value);
const marked = all("[data-l]");
marked.forEach((element) => add(byLayer, element.dataset.l, element));
const readersOf = data.reads.map(() => []);
data.reads.forEach((sources, layer) => sources.forEach((source) => readersOf[source].push(layer)));
const edges = all(".edge");
const boxes = all(".box");
boxes.forEach((box) => (box.dataset.r ?? "").split(" ").filter(Boolean).forEach((reader) => add(byLayer, `r${reader}`, box)));

// ---- light and choose
let picked = null;
function mark(layer, name) {
  all(`.${name}`).forEach((element) => element.classList.remove(name));
  if (name === "lit") all(".reads").forEach((element) => element.classList.remove("reads"));
  if (layer === null) return;
  (byLayer.get(layer) ?? []).forEach((element) => element.classList.add(name));
  if (name === "lit") {
    (byLayer.get(`r${layer}`) ?? []).forEach((box) => box.classList.add("reads"));
    edges.forEach((edge) => edge.classList.toggle("lit", edge.dataset.s === layer || edge.dataset.t === layer));
  }
}
const light = (layer) => mark(layer ?? picked, "lit");

function pick(layer, origin) {
  picked = layer;
  mark(layer, "picked");
  light(layer);
  if (one("details")) describe(layer);
  if (layer === null) return;
  const node = graph && graph.querySelector(`.node[data-l="${layer}"]`);
  if (node && origin !== "graph") reveal(node);
  all(`.stretch[data-l="${layer}"], .stepname[data-l="${layer}"]`).forEach((place) => {
    const frame = place.closest(".scroll");
    const at = place.getBoundingClientRect(), view = frame.getBoundingClientRect();
    if (at.left < view.left || at.right > view.right) frame.scrollLeft += at.left - view.left - view.width / 3;
  });
}

document.addEventListener("pointerover", (event) => {
  const element = event.target.closest("[data-l]");
  light(element ? element.dataset.l : null);
  told(element);
});
document.addEventListener("focusin", (event) => {
  const element = event.target.closest("[data-l]");
  if (element && event.target.matches(":focus-visible")) light(element.dataset.l), told(element);
});
document.addEventListener("click", (event) => {
  const element = event.target.closest("[data-l]");
  if (element && !element.closest("#graph")) pick(element.dataset.l, "page");
});
function told(element) {
  const told = element && element.closest(".card")?.querySelector(".shown");
  const title = element && element.querySelector(":scope > title");
  if (told && title) told.textContent = title.textContent;
}

// ---- the chosen layer
function make(tag, text, parent, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return parent.appendChild(element);
}
function describe(layer) {
  const panel = one("details");
  panel.replaceChildren();
  if (layer === null) return heaviest(panel);
  const row = document.querySelector(`#costs tr[data-l="${layer}"]`);
  const cells = [...row.children], heads = all("#costs thead th");
  make("h3", data.short[layer], panel);
  if (data.names[layer] !== data.short[layer]) make("p", data.names[layer], panel, "full");
  make("p", `step ${layer} · ${cells[2].textContent} · ${cells[3].textContent}`, panel, "note");
  if (data.slow[layer]) make("p", `Slow: ${data.slow[layer]}`, panel, "slow");
  const list = make("dl", "", panel);
  cells.slice(4).forEach((cell, at) => {
    if (!cell.textContent.trim()) return;
    make("dt", heads[at + 4].textContent, list).title = heads[at + 4].title;
    make("dd", cell.textContent, list);
  });
  if (data.tiles[layer]) tiles(panel, data.tiles[layer]);
  links(panel, "reads from", data.reads[layer]);
  links(panel, "read by", readersOf[layer]);
}
function heaviest(panel) {
  const { label, values, texts } = data.colours[graph ? +one("colour").value : 0];
  make("h3", `Most ${label}`, panel);
  make("p", "Choose a layer: in the graph, in a map or in the table.", panel, "note");
  const list = make("ol", "", panel, "heavy");
  const order = values.map((_, layer) => layer).filter((layer) => values[layer]).sort((a, b) => values[b] - values[a]);
  order.slice(0, 12).forEach((layer) => {
    const item = make("li", "", list);
    item.dataset.l = layer;
    make("button", data.short[layer], item, "link").type = "button";
    make("span", texts[layer], item);
    make("i", "", item).style.setProperty("--p", values[layer] / values[order[0]]);
  });
}
function links(panel, title, layers) {
  if (!layers.length) return;
  make("h4", title, panel);
  layers.forEach((layer) => {
    const button = make("button", data.short[layer], make("p", "", panel), "link");
    button.type = "button";
    button.dataset.l = layer;
  });
}
function tiles(panel, [cores, copies]) {
  make("h4", `${cores.length > 2 ? `${cores.length / 2} tiles` : "one tile"}: kernels above, copies below`, panel);
  const most = Math.max(...cores.slice(-1), ...copies.slice(-1));
  const svg = panel.appendChild(document.createElementNS(svgNS, "svg"));
  svg.setAttribute("viewBox", `0 0 ${most} 52`);
  svg.setAttribute("preserveAspectRatio", "none");
  [["waits", [0, most], 0], ["cores", cores, 0], ["copies", copies, 28]].forEach(([name, pairs, y]) => {
    for (let at = 0; at < pairs.length; at += 2) {
      const bar = svg.appendChild(document.createElementNS(svgNS, "rect"));
      const box = { x: pairs[at], y, width: pairs[at + 1] - pairs[at], height: 24, class: name };
      Object.entries(box).forEach(([key, value]) => bar.setAttribute(key, value));
      const title = bar.appendChild(document.createElementNS(svgNS, "title"));
      title.textContent = `${name} ${at / 2 + 1} of ${pairs.length / 2}: ${(pairs[at + 1] - pairs[at]).toLocaleString("en")} cycles`;
    }
  });
}

// ---- the graph: colours, looking around, keys
const graph = one("graph");
let view = null;
const nodes = graph ? all(".node[data-l]", graph) : [];
function colour(chosen) {
  const { values, texts, chain } = data.colours[chosen];
  const most = Math.max(...values.filter((value) => value !== null), 0);
  all(".node[data-l], .group", graph).forEach((element) => {
    const layer = element.dataset.l;
    const own = element.matches(".solo, .view, .group.rows") || element.matches(chain ? ".group.fused" : ".inside");
    const value = own ? values[layer] : null;
    element.style.setProperty("--v", value && most ? Math.sqrt(value / most).toFixed(3) : 0);
    figure(element).textContent = own ? texts[layer] : "";
  });
  const top = values.indexOf(most);
  one("rampmost").textContent = top < 0 ? "" : texts[top];
  if (picked === null) describe(null);
  mini();
}
function figure(element) {
  const found = element.querySelector(".val");
  if (found) return found;
  const box = element.querySelector("rect"), text = element.appendChild(document.createElementNS(svgNS, "text"));
  text.setAttribute("class", "val");
  text.setAttribute("x", box.getBBox().x + box.getBBox().width - 11);
  text.setAttribute("y", element.querySelector("text").getAttribute("y"));
  return text;
}
// Beside the graph, all of it as stripes, with a frame around what is seen.
function mini() {
  const map = one("mini"), { w, h } = size();
  map.setAttribute("viewBox", `0 0 ${w} ${h}`);
  map.replaceChildren();
  all(".node, .group", graph).forEach((element) => {
    const stripe = map.appendChild(document.createElementNS(svgNS, "rect"));
    const { x, y, width, height } = element.querySelector("rect").getBBox();
    Object.entries({ x, y, width, height }).forEach(([key, value]) => stripe.setAttribute(key, value));
    const place = element.getAttribute("transform");
    if (place) stripe.setAttribute("transform", place);
    stripe.setAttribute("class", element.dataset.l ? "stripe" : "end");
    stripe.style.setProperty("--v", element.style.getPropertyValue("--v"));
  });
  map.appendChild(document.createElementNS(svgNS, "rect")).setAttribute("class", "frame");
  if (view) show();
}
function show() {
  const frame = one("mini").lastElementChild;
  if (frame) Object.entries({ x: view.x, y: view.y, width: view.w, height: view.h }).forEach(([key, value]) => frame.setAttribute(key, value));
  graph.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
}
const size = () => ({ w: +graph.dataset.w, h: +graph.dataset.h });
function fit(least) {
  const box = graph.getBoundingClientRect(), { w, h } = size();
  const scale = Math.min(1.15, Math.max(Math.min(box.width / (w + 40), box.height / (h + 40)), least));
  view = { w: box.width / scale, h: box.height / scale };
  view.x = (w - view.w) / 2;
  view.y = h + 40 < view.h ? (h - view.h) / 2 : -20;
  one("mini").style.display = h > 1.5 * view.h ? "" : "none";
  show();
}
function zoom(factor, at) {
  const box = graph.getBoundingClientRect();
  const x = at ? (at.x - box.left) / box.width : 0.5, y = at ? (at.y - box.top) / box.height : 0.5;
  const wide = Math.min(Math.max(view.w / factor, 120), 60 * box.width);
  const tall = (wide * box.height) / box.width;
  view = { x: view.x + (view.w - wide) * x, y: view.y + (view.h - tall) * y, w: wide, h: tall };
  show();
}
function reveal(node) {
  const box = graph.getBoundingClientRect(), at = node.getBoundingClientRect(), scale = view.w / box.width;
  if (at.top < box.top || at.bottom > box.bottom || at.left < box.left || at.right > box.right) {
    view.x += (at.left + at.width / 2 - box.left - box.width / 2) * scale;
    view.y += (at.top + at.height / 2 - box.top - box.height / 2) * scale;
    show();
  }
}
function walk(step) {
  const at = nodes.findIndex((node) => node.dataset.l === picked);
  const next = nodes[at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1)];
  if (next) pick(next.dataset.l, "keys");
}
if (graph) {
  nodes.forEach((node) => {
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", `${node.querySelector(".op").textContent} ${data.short[node.dataset.l]}`);
    if (!node.querySelector("title")) {
      node.insertBefore(document.createElementNS(svgNS, "title"), node.firstChild).textContent = data.names[node.dataset.l];
    }
  });
  edges.forEach((edge) => {
    const name = (layer, other) => (layer < 0 ? other : data.short[layer]);
    const [from, to] = [name(edge.dataset.s, "input"), name(edge.dataset.t, "output")];
    const what = edge.dataset.b ? `${from} → ${to}: ${edge.dataset.b}` : "stays inside of the chain";
    edge.appendChild(document.createElementNS(svgNS, "title")).textContent = what;
  });
  const select = one("colour");
  select.addEventListener("change", () => colour(+select.value));
  colour(0);
  fit(0.72);
  const pointers = new Map();
  let moved = 0;
  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), { x: event.clientX, y: event.clientY });
  }, { passive: false });
  graph.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, target: event.target });
    if (pointers.size === 1) moved = 0;
  });
  graph.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY, target: before.target };
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
      zoom(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    } else {
      const scale = view.w / graph.getBoundingClientRect().width;
      view.x -= (now.x - before.x) * scale;
      view.y -= (now.y - before.y) * scale;
      show();
    }
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (moved > 4) {
      graph.setPointerCapture(event.pointerId);
      graph.classList.add("drags");
    }
    pointers.set(event.pointerId, now);
  });
  const released = (event) => {
    const down = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    graph.classList.remove("drags");
    if (event.type === "pointerup" && down && moved <= 4) {
      const node = down.target.closest("[data-l]");
      pick(node ? node.dataset.l : null, "graph");
    }
  };
  ["pointerup", "pointercancel", "pointerleave"].forEach((name) => graph.addEventListener(name, released));
  graph.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -1e9, End: 1e9 };
    if (event.key in steps) walk(steps[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.3);
    else if (event.key === "-") zoom(1 / 1.3);
    else if (event.key === "0") fit(0);
    else if (event.key === "Enter") pick(picked ?? nodes[0]?.dataset.l ?? null, "keys");
    else return;
    event.preventDefault();
  });
  const jump = (event) => {
    if (event.buttons !== 1) return;
    const box = one("mini").getBoundingClientRect(), { h } = size();
    view.y = ((event.clientY - box.top) / box.height) * h - view.h / 2;
    show();
  };
  ["pointerdown", "pointermove"].forEach((name) => one("mini").addEventListener(name, jump));
  one("closer").addEventListener("click", () => zoom(1.4));
  one("further").addEventListener("click", () => zoom(1 / 1.4));
  one("whole").addEventListener("click", () => fit(0));
  let wide = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== wide) wide = innerWidth, fit(0.72); });
  addEventListener("beforeprint", () => fit(0));
  addEventListener("afterprint", () => fit(0.72));
}

// ---- maps and timeline: names where they fit, stretching, keys from box to box
function label() {
  all(".box, .stretch").forEach((box) => {
    const width = box.querySelector("rect").getBoundingClientRect().width;
    const text = box.querySelector("text");
    if (!text) return;
    box.classList.remove("narrow");
    box.classList.toggle("narrow", text.getComputedTextLength() + 8 > width && width < 44);
  });
  all(".plot").forEach((plot) => {
    const names = all(".stepname", plot);
    const each = Math.ceil((13 * names.length) / plot.getBoundingClientRect().width);
    names.forEach((name, at) => name.classList.toggle("off", at % each > 0));
  });
}
all(".zoomer button").forEach((button) => button.addEventListener("click", () => {
  all(".wide", button.closest("section")).forEach((wide) => {
    const frame = wide.closest(".scroll");
    const middle = (frame.scrollLeft + frame.clientWidth / 2) / wide.getBoundingClientRect().width;
    const now = Math.min(Math.max((+wide.dataset.zoom || 1) * +button.dataset.zoom, 1), 64);
    wide.dataset.zoom = now;
    wide.style.setProperty("--zoom", now);
    frame.scrollLeft = middle * wide.getBoundingClientRect().width - frame.clientWidth / 2;
  });
  label();
}));
all(".scroll").forEach((frame) => {
  const inside = all(".box, .stretch", frame);
  inside.forEach((box, at) => {
    box.setAttribute("tabindex", at ? -1 : 0);
    box.setAttribute("role", "button");
    box.setAttribute("aria-label", box.querySelector("title").textContent);
  });
  frame.addEventListener("keydown", (event) => {
    const at = inside.indexOf(event.target.closest(".box, .stretch"));
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at >= 0 && step) {
      event.preventDefault();
      const next = inside[Math.min(Math.max(at + step, 0), inside.length - 1)];
      inside[at].setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    } else if (at >= 0 && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(inside[at].dataset.l, "page");
    }
  });
});
addEventListener("resize", label);
label();

// ---- the table: names whole on demand, sorting by chain
all("#costs tbody .link").forEach((button) => { button.title = data.names[button.closest("tr").dataset.l]; });
const number = (text) => (text === "best" ? 1 : parseFloat(text.replaceAll(",", "").replace("<", "")));
all("#costs thead button").forEach((button) => button.addEventListener("click", () => {
  const head = button.closest("th"), column = [...head.parentNode.children].indexOf(head), table = one("costs");
  const down = head.getAttribute("aria-sort") !== "descending" && column > 0;
  const up = column === 0 && head.getAttribute("aria-sort") === "ascending";
  all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down || up ? "descending" : "ascending");
  const sign = down || up ? -1 : 1;
  const value = (body) => {
    const found = number(body.rows[0].cells[column].textContent);
    return Number.isNaN(found) ? -Infinity : found;
  };
  [...table.tBodies].sort((a, b) => sign * (value(a) - value(b))).forEach((body) => table.append(body));
}));

// ---- finding
const search = one("search");
let hits = [], turn = -1;
function find() {
  const wanted = search.value.trim().toLowerCase();
  const found = new Set();
  data.names.forEach((name, layer) => { if (name.toLowerCase().includes(wanted)) found.add(String(layer)); });
  marked.forEach((element) => {
    const own = element.querySelector(":scope > title")?.textContent ?? element.textContent;
    if (wanted && own.toLowerCase().includes(wanted)) found.add(element.dataset.l);
  });
  hits = wanted ? [...found].sort((a, b) => a - b) : [];
  turn = -1;
  one("hits").textContent = wanted ? `${hits.length} of ${data.names.length} layers` : "";
  marked.forEach((element) => element.classList.toggle("dim", Boolean(wanted) && !found.has(element.dataset.l)));
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits.length) {
    turn = (turn + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
    pick(hits[turn], "search");
    one("hits").textContent = `${turn + 1} of ${hits.length}: ${data.short[hits[turn]]}`;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input, select")) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape") {
    search.value = "";
    find();
    pick(null, "keys");
  }
});
