// ---- maps and timeline: names where they fit, stretching, keys from box to box
function label() {
  all(".plot").forEach((plot) => {
    const texts = all(".box text, .stretch text", plot);
    texts.forEach((text) => { text.textContent = text.dataset.whole ??= text.textContent; });
    const drawn = all(".box, .stretch", plot).map((box) => [box, box.querySelector("rect").getBoundingClientRect()]);
    const order = new Map(drawn.map(([box], at) => [box, at]));
    const fitted = texts.map((text) => {
      const at = order.get(text.parentNode), own = drawn[at][1], mine = text.getBoundingClientRect();
      const over = drawn.slice(at + 1).map(([, box]) => box).filter(
        (box) => box.top < mine.bottom && box.bottom > mine.top && box.left > own.left && box.left < own.right);
      const room = Math.min(own.right, ...over.map((box) => box.left)) - own.left - 8;
      const whole = text.dataset.whole, fits = Math.floor((whole.length * room) / text.getComputedTextLength()) - 1;
      if (fits >= whole.length - 1) return whole;
      return fits > 2 && !text.classList.contains("size") ? `${whole.slice(0, fits)}…` : "";
    });
    texts.forEach((text, at) => { text.textContent = fitted[at]; });
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
      inside[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
  });
});
addEventListener("resize", label);
label();
// What a box is stands below its map while one looks at it.
function told(element) {
  const told = element && element.closest(".card")?.querySelector(".shown");
  const title = element && element.querySelector(":scope > title");
  if (told && title) told.textContent = title.textContent;
}
["pointerover", "focusin"].forEach((name) => document.addEventListener(name, (event) => told(event.target.closest("[data-l]"))));
