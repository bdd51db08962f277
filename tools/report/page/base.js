// SPDX-License-Identifier: Apache-2.0
// The data, small helpers, and the one thing that joins all pictures: which op is selected.
"use strict";

// What page.py packs: keys that all rows have, their values, and behind these what else a row has.
const unpacked = ({ keys, rows }) =>
  rows.map((row) => Object.assign(Object.fromEntries(keys.map((key, i) => [key, row[i]])), row[keys.length]));

const data = JSON.parse(document.getElementById("data").textContent);
data.symbols = unpacked(data.symbols);
for (const one of data.models) {
  for (const list of ["ops", "steps", "blocks"]) one[list] = unpacked(one[list]);
  one.byId = new Map(one.ops.map((op) => [op.id, op]));
  one.instructions = new Map(one.steps.map((step) => [step.ops[0], step.instructions]));
  one.stepOf = new Map(d3.reverse(one.steps).flatMap((step) => step.ops.map((id) => [id, step])));
  // Of a delegate those in it, whose ids begin with its own.
  one.inside = d3.group(one.ops.filter((op) => op.id.includes(".")), (op) => op.id.split(".")[0]);
}

const at = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US");
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}%` : "");
const decibels = (value) => (value === null ? "-" : value >= 150 ? "exact" : `${(Math.round(10 * value) / 10 + 0).toFixed(1)} dB`);
const shape = (tensor) => `${tensor.shape.join("×")} ${tensor.dtype}`;
const short = (op) => op.replace(/^pl(\.|::)/, "").replace("delegate::", "");

// Some ops of a mixed model are in int16 or float32.
const kindOf = (model) => (model.quantization === "mixed" ? "mixed precision" : model.quantization);

// Of more ops than that the inspector says sums.
const MOST_INSPECTED = 12;

let model = data.models[0] || null;
let selected = [];

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// What a click or Enter on it selects: ids of ops, which are also how it is found again.
const picks = (ops) =>
  ops.length ? { "data-ops": ops.join(" "), tabindex: "0" } : {};

const isPlanned = () => Boolean(model && model.arena);
const noPlan = () => (model ? "the image names no plan of this model" : "the image names no model");

// The ops of the model that is shown that a symbol of the image is of.
const opsOf = (symbol) => (model && symbol.ops[model.name]) || [];

const opOf = (id) => model && model.byId.get(id);

// A long name may go on in the next line behind what joins its parts, and before a capital.
const breakable = (text) =>
  text.split(/(?<=[._/])(?![._/])|(?<=[a-z])(?=[A-Z])/).flatMap((part, i) => (i ? [element("wbr"), part] : [part]));

function table(head, rows) {
  const cellOf = (cell, kind) =>
    element("td", { class: kind }, ...(kind.startsWith("long") && typeof cell === "string" ? breakable(cell) : [cell]));
  const body = rows.map(([ops, ...cells]) => element("tr", picks(ops), ...cells.map((cell, i) => cellOf(cell, head[i][1]))));
  const titles = head.map(([title, kind]) => element("th", { class: kind, scope: "col" }, title));
  return [element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...body)];
}

function bar(part, whole) {
  const made = element("div", { class: "bar" });
  made.style.width = `${whole ? Math.max(0.5, (100 * part) / whole) : 0}%`;
  return made;
}

function select(ops, from) {
  selected = ops.filter(opOf);
  const [wanted, nodes] = [new Set(selected), new Set(selected.map(nodeOf))];
  for (const one of document.querySelectorAll("[data-ops]")) {
    const on = one.dataset.ops.split(" ").some((id) => wanted.has(id));
    one.classList.toggle("on", on);
    if (one.getAttribute("role") === "button") one.setAttribute("aria-pressed", on);
    if (on && one.tagName === "TR" && one.closest(".scroll") && !one.contains(from)) {
      const box = one.closest(".scroll");
      box.scrollTop = one.offsetTop - box.clientHeight / 2;
    }
  }
  for (const one of document.querySelectorAll(".edge")) {
    one.classList.toggle("on", nodes.has(one.dataset.from) || nodes.has(one.dataset.to));
  }
  if (model) drawButtons();
  if (selected.length) showInGraph(selected[0]);
  inspect();
  history.replaceState(null, "", selected.length ? `#op=${selected.join(",")}` : location.pathname);
}

function facts(pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) {
    if (value === "" || value === null || value === undefined) continue;
    list.append(element("dt", {}, name), element("dd", {}, value));
  }
  return list;
}

const shareText = (instructions) => (instructions ? `${number(instructions)} (${percent(instructions, total())})` : "");

function tensorText(tensor) {
  const scale = tensor.scale === undefined ? "" : `, scale ${tensor.scale.toPrecision(4)}, zero ${tensor.zero_point}`;
  return `${shape(tensor)}${scale}`;
}

function inspect() {
  const box = at("inspector");
  box.replaceChildren();
  box.classList.toggle("empty", !selected.length);
  if (!selected.length) {
    box.append(element("h2", {}, "Nothing selected"),
      element("p", { class: "note" }, "Choose an op in any of the pictures or tables: it is marked in all of them. Arrow keys go on to the next op, Escape ends."));
    return;
  }
  if (selected.length > MOST_INSPECTED) {
    inspectMany(box, selected.map(opOf));
    return;
  }
  for (const id of selected) {
    const op = opOf(id);
    const step = model.stepOf.get(id);
    const not = Object.entries(op.not_on).map(([engine, why]) => `${engine}: ${why}`).join("; ");
    box.append(element("h2", {}, `${id}  ${short(op.op)}`), facts([
      ["module", op.module ? element("span", {}, ...breakable(op.module)) : ""], ["source", op.source ? element("code", {}, op.source) : ""],
      ["from", op.from.join(", ")], ["runs on", op.runs_on], ["why", op.why], ["not on", not],
      ...op.inputs.map((tensor, i) => [i ? "" : "reads", tensorText(tensor)]).map(([n, v], i) => [n || `reads ${i + 1}`, v]),
      ...op.outputs.map((tensor, i) => [i ? `gives ${i + 1}` : "gives", tensorText(tensor)]),
      ["function", op.function ? element("code", {}, op.function) : ""],
      ["MACs", op.macs ? number(op.macs) : ""],
      ["constants", op.constant_bytes ? `${number(op.constant_bytes)} bytes` : ""],
      ["scratch", step && step.scratch ? `${number(step.scratch)} bytes` : ""],
      ["in use", op.outline ? "" : step ? `${number(step.live_bytes)} bytes of the arena` : "no step: its bytes are there already"],
      ["instructions", op.outline ? shareText(op.outline.instructions) : step ? `${shareText(step.instructions)}${step.instructions && step.ops.length > 1 ? `, with ${step.ops.length - 1} more ops` : ""}` : ""],
      ["cycles", step && step.cycles ? `${number(step.cycles)} (${percent(step.cycles, d3.sum(model.steps, (one) => one.cycles || 0))})` : ""],
      ["SQNR", op.quality ? decibels(op.quality.sqnr_db) : ""],
      ["alone", op.quality && op.quality.alone_db !== null ? `${decibels(op.quality.alone_db)} at the outputs` : ""],
      ["seen", op.quality ? `${op.quality.low.toPrecision(4)} to ${op.quality.high.toPrecision(4)}` : ""],
      ["holds", op.holds ? `${op.holds[0].toPrecision(4)} to ${op.holds[1].toPrecision(4)}` : ""],
    ]));
  }
}

// Of a part of the graph, what its ops take together.
function inspectMany(box, ops) {
  const modules = new Set(ops.map((op) => op.module.replace(/ \(.*$/, "")).filter(Boolean));
  const [first, last] = [ops[0], ops[ops.length - 1]];
  const worst = ops.every((op) => !op.outline) && d3.least(ops.filter((op) => op.quality && op.quality.sqnr_db !== null), (op) => op.quality.sqnr_db);
  box.append(element("h2", {}, `${number(ops.length)} ops`), facts([
    ["from", `${first.id} to ${last.id}`], ["modules", number(modules.size)],
    ["runs on", [...new Set(ops.map((op) => op.runs_on))].join(", ")],
    ["MACs", number(d3.sum(ops, (op) => op.macs))],
    ["constants", `${number(d3.sum(ops, (op) => op.constant_bytes))} bytes`],
    ["instructions", shareText(instructionsOf(ops))],
    ["worst SQNR", worst ? `${decibels(worst.quality.sqnr_db)}, op ${worst.id}` : ""],
    ["gives", tensorText(last.outputs[0])],
  ]));
}

// Of the steps that are of these ops; a step of several counts with the first of them.
function instructionsOf(ops) {
  return d3.sum(ops, (op) => (op.outline ? op.outline.instructions : model.instructions.get(op.id)));
}

const total = () => model.steps.reduce((sum, step) => sum + (step.instructions || 0), 0);

// The next op in order of execution.
function move(by) {
  const order = model.ops.map((op) => op.id);
  const now = selected.length ? order.indexOf(selected[0]) : by > 0 ? -1 : order.length;
  const next = order[Math.min(order.length - 1, Math.max(0, now + by))];
  const holder = document.activeElement && document.activeElement.closest("#graph, #arena, #treemap, section");
  select([next], null);
  const same = holder && holder.querySelector(`[data-ops~="${CSS.escape(next)}"]`);
  if (same) same.focus({ preventScroll: true });
}

function listen() {
  document.addEventListener("click", (event) => {
    const hit = event.target.closest("[data-ops]");
    if (hit) select(hit.dataset.ops.split(" "), event.target);
  });
  document.addEventListener("keydown", (event) => {
    const hit = event.target.closest && event.target.closest("[data-ops]");
    const typing = /^(SELECT|INPUT)$/.test(event.target.tagName);
    if (hit && (event.key === "Enter" || event.key === " ")) {
      select(hit.dataset.ops.split(" "), event.target);
    } else if (model && !typing && hit && ["ArrowDown", "ArrowRight"].includes(event.key)) move(1);
    else if (model && !typing && hit && ["ArrowUp", "ArrowLeft"].includes(event.key)) move(-1);
    else if (event.key === "Escape") select([], null);
    else return;
    event.preventDefault();
  });
  at("by-op").addEventListener("click", () => { byOp = true; draw(); });
  at("by-part").addEventListener("click", () => { byOp = false; draw(); });
  at("open").addEventListener("click", openSelected);
  at("graph-svg").addEventListener("dblclick", (event) => {
    if (event.target.closest(".node")) openSelected();
  });
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });
}
