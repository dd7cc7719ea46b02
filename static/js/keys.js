// Keys, declared on the elements that they trigger: <a data-key="g l">. Never active in inputs.
//   j k      next, previous row (tr, li or a with data-row)      [ ]  fold, unfold all <details>
//   n p      next, previous removal (data-removal)               y    copy the permalink
//   Enter    open the row's first link                           ?    what keys there are
const WAIT = 900; // ms between the two letters of a sequence
let pending = "";
let timer = 0;

const live = (text) => { document.getElementById("live").textContent = text; };
const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;
const shown = (element) => element.getClientRects().length > 0;

function trigger(element) {
  if (element.matches("input, select, textarea")) { element.focus(); element.select?.(); } else element.click();
}

function declared(key) {
  return [...document.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key && shown(element));
}

// The row that the keys start from: the one with the focus, else the one that was selected last.
function cursor() {
  return document.activeElement?.closest("[data-row]") ?? document.querySelector("[data-row][aria-selected]");
}

function step(selector, by) {
  const all = [...document.querySelectorAll(selector)].filter(shown);
  const from = cursor();
  const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const ahead = from ? all.filter((one) => from.compareDocumentPosition(one) & side) : all.slice(0, 1);
  const element = by > 0 ? ahead[0] : ahead.at(-1);
  if (!element) return;
  document.querySelector("[data-row][aria-selected]")?.removeAttribute("aria-selected");
  if (element.matches("[data-row]")) element.setAttribute("aria-selected", "true");
  if (!element.matches("a, button, [tabindex]")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

function fold(open) {
  for (const element of document.querySelectorAll("main details")) element.open = open;
}

async function copyAddress() {
  const anchor = document.querySelector("[data-row][aria-selected][id]");
  const address = location.href.split("#")[0] + (anchor ? `#${anchor.id}` : location.hash);
  await navigator.clipboard.writeText(address);
  live("Address copied");
}

function list() {
  const dialog = document.getElementById("keys");
  const lines = new Map([["j k", "next, previous row"], ["n p", "next, previous removal"], ["[ ]", "fold, unfold all"], ["y", "copy the address"]]);
  for (const element of document.querySelectorAll("[data-key]")) {
    const name = element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.firstChild?.textContent || element.textContent;
    if (shown(element)) lines.set(element.dataset.key, name.trim());
  }
  dialog.querySelector("ul").replaceChildren(...[...lines].map(([key, name]) => {
    const item = document.createElement("li");
    const kbd = document.createElement("kbd");
    kbd.textContent = key;
    item.append(kbd, name);
    return item;
  }));
  dialog.showModal();
}

const OWN = {
  j: () => step("[data-row]", 1),
  k: () => step("[data-row]", -1),
  n: () => step("[data-removal]", 1),
  p: () => step("[data-removal]", -1),
  "[": () => fold(false),
  "]": () => fold(true),
  y: copyAddress,
  "?": list,
};

function enter(event) {
  if (event.target.matches("[data-row]:not(a)")) event.target.querySelector("a[href]")?.click();
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Enter") { enter(event); return; }
  clearTimeout(timer);
  const key = pending ? `${pending} ${event.key}` : event.key;
  pending = "";
  const element = declared(key);
  if (OWN[key] === list || !element) {
    if (OWN[key]) { event.preventDefault(); OWN[key](); } else if (key === "g") { pending = "g"; timer = setTimeout(() => { pending = ""; }, WAIT); }
    return;
  }
  event.preventDefault();
  trigger(element);
}

document.addEventListener("keydown", pressed);
for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", list);
}
