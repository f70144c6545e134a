// One network: whatever stands for a layer has data-l, its number in the plan. Looking at one lights all of them.
const data = JSON.parse(document.getElementById("data").textContent);
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
});
document.addEventListener("focusin", (event) => {
  const element = event.target.closest("[data-l]");
  if (element && event.target.matches(":focus-visible")) light(element.dataset.l);
});
document.addEventListener("click", (event) => {
  const element = event.target.closest("[data-l]");
  if (element && !element.closest("#graph")) pick(element.dataset.l, "page");
});
// ---- the chosen layer
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
// Whole names on demand.
all("#costs tbody .link").forEach((button) => { button.title = data.names[button.closest("tr").dataset.l]; });
