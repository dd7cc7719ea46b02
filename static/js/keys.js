// Keys, declared on the elements that they trigger: <a data-key="g l">. Never active in inputs.
//   j k      next, previous row (tr, li or a with data-row)      [ ]  fold, unfold all <details>
//   n p      next, previous removal (data-removal)               y    copy the permalink
//   Enter    open the row's first link                           ?    what keys there are
const WAIT = 900; // ms between the two letters of a sequence
let pending = "";
let timer = 0;
let row = -1;
let removal = -1;

const live = (text) => { document.getElementById("live").textContent = text; };
const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;
const shown = (element) => element.getClientRects().length > 0;

function trigger(element) {
  if (element.matches("input, select, textarea")) { element.focus(); element.select?.(); } else element.click();
}

function declared(key) {
  return [...document.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key && shown(element));
}

function step(selector, from, by) {
  const all = [...document.querySelectorAll(selector)].filter(shown);
  if (!all.length) return -1;
  const to = Math.min(Math.max(from + by, 0), all.length - 1);
  const element = all[to];
  document.querySelector("[data-row][aria-selected]")?.removeAttribute("aria-selected");
  if (element.matches("[data-row]")) element.setAttribute("aria-selected", "true");
  if (!element.matches("a, button, [tabindex]")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
  return to;
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
  j: () => { row = step("[data-row]", row, 1); },
  k: () => { row = step("[data-row]", row, -1); },
  n: () => { removal = step("[data-removal]", removal, 1); },
  p: () => { removal = step("[data-removal]", removal, -1); },
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
