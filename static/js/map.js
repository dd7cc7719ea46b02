// The context map: crosshair, readout of the call under the pointer, one slider for the keyboard.
// A figure a call (or a bin) stands in data-calls; the readout itself comes from the server.
const PAUSE = 120; // ms of rest before the server is asked
const NOTCH = 10; // calls a Shift + arrow moves

class ContextMap {
  constructor(frame) {
    this.frame = frame;
    this.plot = frame.querySelector(".plot");
    this.slider = frame.querySelector(".slider");
    this.count = Number(frame.dataset.count);
    this.sizes = frame.dataset.calls.split(" ").map(Number);
    this.starts = frame.dataset.starts ? frame.dataset.starts.split(" ").map(Number) : null;
    this.drops = frame.dataset.drops ? frame.dataset.drops.split(" ").map(Number) : [];
    this.call = Number(frame.dataset.call);
    this.asked = this.call;
    this.slider.hidden = false;
    this.listen();
  }

  listen() {
    this.plot.addEventListener("pointermove", (event) => this.hover(this.callAt(event)));
    this.plot.addEventListener("pointerleave", () => this.hover(this.call));
    this.plot.addEventListener("click", (event) => this.click(event));
    this.slider.addEventListener("keydown", (event) => this.key(event));
  }

  callAt(event) {
    const box = this.plot.getBoundingClientRect();
    return this.clamp(Math.ceil(((event.clientX - box.left) / box.width) * this.count));
  }

  clamp(n) { return Math.min(Math.max(n, 1), this.count); }

  place(n) {
    if (!this.starts) return n - 1;
    let at = this.starts.findIndex((start) => start > n) - 1;
    if (at < 0) at = this.starts.length - 1;
    return at;
  }

  draw(n) {
    const band = this.frame.querySelector(".selband");
    band.setAttribute("x", n - 1);
    this.frame.querySelector(".sel").setAttribute("d", `M${n - 0.5} 15V${band.getAttribute("height")}`);
    const label = this.frame.querySelector("#at-call");
    label.setAttribute("text-anchor", n > 0.88 * this.count ? "end" : "middle");
    label.setAttribute("x", `${(100 * (n - 0.5)) / this.count}%`);
    label.textContent = `call ${n.toLocaleString("en")}`;
  }

  hover(n) {
    this.draw(n);
    this.ask(n, PAUSE);
  }

  ask(n, pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (n === this.asked) return;
      this.asked = n;
      window.htmx.ajax("GET", this.address(n), { target: "#readout", swap: "innerHTML" });
    }, pause);
  }

  address(n) {
    const query = new URLSearchParams(location.search);
    query.set("call", n);
    return `${this.frame.dataset.address}?${query}`;
  }

  select(n) {
    this.call = this.clamp(n);
    this.draw(this.call);
    this.slider.setAttribute("aria-valuenow", this.call);
    this.slider.setAttribute("aria-valuetext", `call ${this.call}, ${this.sizes[this.place(this.call)].toLocaleString("en")} tokens`);
    history.replaceState(history.state, "", this.address(this.call));
    this.ask(this.call, 0);
  }

  click(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a");
    if (link && !link.closest(".columns")) return; // a ribbon leads to its fate
    event.preventDefault();
    this.select(this.callAt(event));
    this.slider.focus({ preventScroll: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.shiftKey ? NOTCH : 1;
    const to = {
      ArrowLeft: () => this.call - by,
      ArrowRight: () => this.call + by,
      ArrowDown: () => this.call - by,
      ArrowUp: () => this.call + by,
      Home: () => 1,
      End: () => this.count,
      n: () => this.drops.find((drop) => drop > this.call) ?? this.call,
      p: () => this.drops.findLast((drop) => drop < this.call) ?? this.call,
      Enter: () => { location.href = `${this.frame.dataset.address}view/${this.call}`; return this.call; },
      Escape: () => { this.slider.blur(); return this.call; },
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    this.select(to());
  }
}

let map = null;

function start() {
  const frame = document.getElementById("plot-frame");
  map = frame && (map?.frame === frame ? map : new ContextMap(frame));
}

document.addEventListener("click", (event) => {
  const step = event.target.closest("[data-step], [data-to]");
  if (!step || !map || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  map.select(step.dataset.to ? Number(step.dataset.to) : map.call + Number(step.dataset.step));
});
document.addEventListener("htmx:load", start);
start();
