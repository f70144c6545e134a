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

