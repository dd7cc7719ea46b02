// Keeps the badges of sources as they are now, while a page with `data-watch` is open.
// What sums them up (`data-fresh`) is fetched again once a badge has changed.
// `data-events` is the stream, `data-badges` the answer that is asked for again where there is no stream.
const POLL_MS = 1000;
const CALM_MS = 300; // several badges change together
const STATUS = /^\([\d,]+ (?:corrupt|missing|denied|unsupported)\) /;

const watched = document.querySelector("[data-watch]");
const known = new Map();
let polling = 0;
let freshening = 0;

function show(said) {
  const news = [];
  for (const badge of said.badges) {
    if (known.get(badge.key) === badge.html) continue;
    if (known.has(badge.key)) news.push(badge.status || "not looked at");
    known.set(badge.key, badge.html);
    for (const place of watched.querySelectorAll(`[data-source="${badge.key}"]`)) {
      const made = document.createElement("template");
      made.innerHTML = badge.html;
      if (place.isEqualNode(made.content.firstElementChild)) continue;
      place.replaceWith(made.content);
      clearTimeout(freshening);
      freshening = setTimeout(freshen, CALM_MS);
    }
  }
  const worst = said.worst.count ? `(${said.worst.count} ${said.worst.status}) ` : "";
  document.title = worst + document.title.replace(STATUS, "");
  for (const place of document.querySelectorAll("[data-worst]")) {
    place.closest("a")?.classList.toggle("alert", said.worst.count > 0);
    place.textContent = said.worst.count ? `${said.worst.count} ${said.worst.status}` : place.dataset.worst;
  }
  const told = watched.querySelector("[data-watch-said]");
  if (told && news.length) told.textContent = news.length === 1 ? `A source is ${news[0]} now.` : `${news.length} sources changed.`;
}

async function freshen() {
  if (!document.querySelector("[data-fresh]")) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const place of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(place.id);
      if (fresh) place.replaceWith(fresh);
    }
  } catch {
    // the server is away: the next change asks again
  }
}

async function poll() {
  if (!document.hidden) {
    try {
      const answer = await fetch(watched.dataset.badges, { headers: { Accept: "application/json" } });
      if (answer.ok) show(await answer.json());
    } catch {
      // the server is away: the next second asks again
    }
  }
  polling = setTimeout(poll, POLL_MS);
}

function listen() {
  const stream = new EventSource(watched.dataset.events);
  stream.addEventListener("badges", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED && !polling) poll();
  });
  addEventListener("pagehide", () => stream.close());
}

if (watched) listen();
