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
found.overflow = document.documentElement.scrollWidth - innerWidth;
const shapes = [...document.querySelectorAll("#arena rect, #treemap .cell")];
found.sizes = shapes.map((one) => one.getBoundingClientRect().width);
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
