// SPDX-License-Identifier: Apache-2.0
// What a reader of the page would do, at the end of a copy of it (test_in_browser.py).
const found = { errors: [], steps: {} };
addEventListener("error", (event) => found.errors.push(String(event.message)));
const on = () => document.querySelectorAll(".on[data-ops]");
const places = () => [...new Set([...on()].map((one) => one.closest("section").id))].sort();
const marks = () => [...on()].every((one) => one.dataset.ops.split(" ").includes(selected[0]));
function note(name) {
  found.steps[name] = { selected: [...selected], places: places(), marks: marks(),
    inspector: at("inspector").innerText };
}
const key = (name, target) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const wantedOp = model.steps[0].ops.length > 1 ? model.steps[0].ops[1] : model.steps[0].id;
const node = document.querySelector(`.node[data-ops="${CSS.escape(wantedOp)}"]`);
note("nothing");
node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
note("click");
node.focus();
key("ArrowDown", node);
note("down");
key("Escape", document.activeElement);
note("escape");
key("Enter", document.querySelector("#quality [data-ops]"));
note("enter");
const last = model.ops[model.ops.length - 1].id;
select([last], null);
const canvas = at("graph-svg").getBoundingClientRect();
const seen = document.querySelector(`.node[data-ops="${CSS.escape(last)}"]`).getBoundingClientRect();
found.inSight = seen.bottom > canvas.top && seen.top < canvas.bottom;
select([], null);
const color = () => getComputedStyle(document.body).backgroundColor;
const before = color();
at("theme").click();
found.themes = [before, color()];
found.text = document.querySelector("main").innerText + at("tiles").innerText;
found.nodes = document.querySelectorAll(".node[data-ops]").length;
found.focusable = [...document.querySelectorAll("[data-ops]")].every((one) => one.tabIndex === 0);
const buttons = [...document.querySelectorAll('[role="button"]')];
found.named = buttons.every((one) => one.getAttribute("aria-label"));
found.width = innerWidth;
found.overflow = document.documentElement.scrollWidth - innerWidth;
const shapes = [...document.querySelectorAll("#arena rect, #treemap .cell")];
found.sizes = shapes.map((one) => one.getBoundingClientRect().width);
// Where texts are seen: what an element around cuts off is not.
function seenRects(text) {
  if (!text.parentElement.checkVisibility({ visibilityProperty: true })) return [];
  const range = document.createRange();
  range.selectNodeContents(text);
  let rects = [...range.getClientRects()];
  for (let around = text.parentElement; around; around = around.parentElement) {
    const style = getComputedStyle(around);
    if (style.position === "fixed" || style.position === "sticky") return [];
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const box = around.getBoundingClientRect();
    rects = rects.map((r) => new DOMRect(Math.max(r.x, box.x), Math.max(r.y, box.y),
      Math.min(r.right, box.right) - Math.max(r.x, box.x), Math.min(r.bottom, box.bottom) - Math.max(r.y, box.y)));
  }
  return rects.filter((r) => r.width > 1 && r.height > 1);
}
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT,
  (one) => (one.parentElement.closest("script, style, option") || !one.data.trim() ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
while (walker.nextNode()) texts.push([walker.currentNode, seenRects(walker.currentNode)]);
// Lines of a text may touch: over one another is what has a third of its height in common.
const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.x, b.x) > 2
  && Math.min(a.bottom, b.bottom) - Math.max(a.y, b.y) > Math.min(a.height, b.height) / 3;
found.texts = texts.length;
found.overlaps = texts.flatMap(([one, rects], i) => texts.slice(i + 1)
  .filter(([, others]) => rects.some((a) => others.some((b) => over(a, b))))
  .map(([other]) => `${one.data.trim()} | ${other.data.trim()}`));
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
