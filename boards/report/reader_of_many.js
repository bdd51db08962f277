// SPDX-License-Identifier: Apache-2.0
// What a reader does with the graph of a model of very many ops (test_in_browser.py).
const found = { errors: [], text: "" };
addEventListener("error", (event) => found.errors.push(String(event.message)));
const nodes = () => [...document.querySelectorAll(".node[data-ops]")].map((one) => one.dataset.ops.split(" "));
const largest = () => d3.greatest(document.querySelectorAll(".node.many"), (one) => one.dataset.ops.length);
found.first = nodes();
largest().dispatchEvent(new MouseEvent("click", { bubbles: true }));
found.selected = [...selected];
found.inspector = at("inspector").innerText;
largest().dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
found.opened = nodes();
const last = model.ops[model.ops.length - 1].id;
select([last], null);
while (nodeOf(last) !== last) openSelected();
found.reached = nodes();
const canvas = at("graph-svg").getBoundingClientRect();
const seen = document.querySelector(".node.on").getBoundingClientRect();
found.inSight = seen.bottom > canvas.top && seen.top < canvas.bottom;
found.edges = [...document.querySelectorAll(".edge")].map((one) => [one.dataset.from, one.dataset.to]);
found.named = [...document.querySelectorAll(".node[data-ops]")].every((one) => one.getAttribute("aria-label") && one.tabIndex === 0);
found.buttons = ["by-op", "by-part", "open"].filter((id) => !at(id).hidden);
at("by-part").click();
found.closed = nodes().length;
found.overflow = document.documentElement.scrollWidth - innerWidth;
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
