// SPDX-License-Identifier: Apache-2.0
// Tiles, instructions, quality, NPU, advice; and drawing all of it.
"use strict";

function drawTop() {
  const { board } = data;
  at("title").textContent = data.name;
  at("shortened").hidden = !data.shortened.length;
  at("shortened").textContent = `Shortened, so that the page can be mailed: ${data.shortened.join("; ")}. All of it is in ${data.name}.report.json.`;
  at("subtitle").textContent = [board.description, board.core, board.npu, model ? `${model.name}, ${kindOf(model)}` : ""].filter(Boolean).join(" · ");
  const tiles = [];
  for (const [kind, title] of [["flash", "flash"], ["ram", "RAM"]]) {
    const used = data.memories.filter((m) => m.kind === kind && m.used);
    const [part, whole] = [d3.sum(used, (m) => m.used), d3.sum(used, (m) => m.size)];
    tiles.push([number(part), `bytes of ${title}, of ${number(whole)}`, part / whole]);
  }
  if (data.stack.bound !== null) tiles.push([number(data.stack.bound), `bytes of stack at most, of ${number(data.stack.size)}`, data.stack.bound / data.stack.size]);
  if (model && model.arena) tiles.push([number(model.arena.bytes), "bytes of arena"]);
  // Of several models each has its own, those of its steps.
  if (data.models.length > 1 && total()) tiles.push([number(total()), `instructions in the steps of ${model.name}`]);
  else if (data.instructions) tiles.push([number(data.instructions), "instructions an inference"]);
  if (model) {
    tiles.push([number(model.macs), "multiply-accumulates"]);
    const { accuracy, outputs } = model.quality;
    const worst = d3.min(outputs.filter((o) => o.sqnr_db !== null), (o) => o.sqnr_db);
    if (accuracy) tiles.push([`${(100 * accuracy.int8).toFixed(2)}%`, `right in ${kindOf(model)}, ${(100 * accuracy.float32).toFixed(2)}% in float32`]);
    if (worst !== undefined) tiles.push([decibels(worst), "SQNR against float32"]);
  }
  at("tiles").replaceChildren(...tiles.map(([value, text, share]) => {
    const tile = element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text));
    if (share !== undefined) {
      const fill = element("i");
      fill.style.width = `${Math.min(100, 100 * share)}%`;
      tile.append(element("div", { class: "meter" }, fill));
    }
    return tile;
  }));
}

// Layers that lost channels which no output depends on.
function drawDeadChannels(box) {
  const layers = model ? model.dead_channels : [];
  if (!layers.length) return;
  const less = (key) => number(d3.sum(layers, (layer) => layer.before[key] - layer.after[key]));
  const keys = [["inputs", "n"], ["outputs", "n"], ["macs", "n"], ["constant_bytes", "n hide-small"]];
  const rows = layers.map((layer) => [layer.id ? [layer.id] : [], layer.id || "gone", layer.module || layer.name,
    ...keys.map(([key]) => `${number(layer.before[key])} → ${number(layer.after[key])}`)]);
  const made = element("table");
  made.append(...table([["id", ""], ["layer", "long hide-small"], ["inputs", "n"], ["outputs", "n"], ["MACs", "n"], ["bytes of constants", "n hide-small"]], rows));
  box.append(element("h3", {}, "Dead channels"),
    element("p", { class: "note" }, `They are constant for every input, or nobody reads them: ${less("macs")} multiply-accumulates and ${less("constant_bytes")} bytes of constants less.`),
    element("div", { class: "scroll" }, made));
}

function drawInstructions() {
  const box = at("instructions");
  box.replaceChildren();
  drawCounted(box);
  drawDeadChannels(box);
  if (!data.unnamed_plans) return;
  const plans = data.unnamed_plans === 1 ? "a plan" : `${number(data.unnamed_plans)} plans`;
  box.append(element("p", { class: "note" }, `Not listed: steps of ${plans} that the image's `, element("code", {}, "plan"), " does not name."));
}

// Of each kind of cost that steps have been given, the sum.
function costsOf(steps) {
  const sums = ["instructions", "cycles"].map((kind) => [kind, d3.sum(steps, (step) => step[kind] || 0)]);
  return sums.filter(([, sum]) => sum);
}

function instructionsText(all) {
  if (data.models.length > 1) return `${number(all)} instructions in the steps of an inference of ${model.name}, counted exactly in QEMU`;
  const over = data.inferences ? ` over ${number(data.inferences)} inferences` : ", as the sum of its steps";
  return `${number(data.instructions)} instructions an inference, counted exactly in QEMU${over}`;
}

function cyclesText(all) {
  const from = data.cycles_are === "measured" ? "by the core's own counter on a board" : `estimated ${estimatedFor()}`;
  return `${number(all)} cycles in the steps of an inference, ${from}.`;
}

// Chip of estimated cycles, their error, and time and energy of an inference.
function estimatedFor() {
  const about = data.estimated_for;
  if (!about) return "for the core; no chip of it was measured";
  const band = (error) => `± ${Math.ceil(error * 100)} %`;
  const parts = [`for ${about.chip} at ${about.clock_hz / 1e6} MHz (${band(about.error)})`];
  if (about.milliseconds !== undefined) parts.push(`${about.milliseconds.toPrecision(4)} ms ${band(about.error)} an inference`);
  if (about.microjoules !== undefined) parts.push(`${number(Math.round(about.microjoules))} µJ ${band(about.energy_error)}`);
  return parts.join("; ");
}

function drawCounted(box) {
  const steps = model ? model.steps.filter((step) => step.instructions || step.cycles) : [];
  const costs = costsOf(steps);
  const note = (text) => box.append(element("p", { class: "note" }, text));
  if (!costs.some(([kind]) => kind === "instructions")) {
    const all = data.instructions ? `${number(data.instructions)} instructions an inference, counted exactly in QEMU. By op ` : "";
    note(`${all}${all ? "not" : "Not"} counted: ${data.not_counted || (isPlanned() ? "the program marks no steps" : noPlan())}.`);
  }
  if (!steps.length) return;
  if (data.engine_is_simulated) {
    note("The NPU is a functional model here, which the core runs: instructions of its steps are the model's, and say nothing of an NPU.");
  }
  for (const [kind, all] of costs) note(kind === "cycles" ? cyclesText(all) : `${instructionsText(all)}; caches and wait states are not part of it.`);
  const [main, whole] = costs[costs.length - 1];
  const most = d3.max(steps, (step) => step[main] || 0);
  const head = costs.flatMap(([kind]) => [[kind, "n"], ["", kind === main ? "n" : "n hide-small"]]);
  const cells = (one) => costs.flatMap(([kind, all]) => (one[kind] ? [number(one[kind]), percent(one[kind], all)] : ["", ""]));
  const macs = (step) => d3.sum(step.ops, (id) => (opOf(id) || { macs: 0 }).macs);
  const rows = steps.map((step) => {
    const sum = macs(step);
    return [step.ops, step.id, short(step.op), step.module, ...cells(step), bar(step[main] || 0, most),
      sum && step[main] && !step.delegate ? (step[main] / sum).toFixed(2) : ""];
  });
  const made = element("table");
  made.append(...table([["id", ""], ["op", ""], ["module", "long hide-small"], ...head, ["", "b"], ["a MAC", "n hide-small"]], rows));
  box.append(element("div", { class: "scroll" }, made));
  const groups = d3.rollups(steps, (some) => ({ ...Object.fromEntries(costsOf(some)), ops: some.flatMap((s) => s.ops) }),
    (step) => step.module.split(/[. ]/)[0] || "(forward)");
  if (groups.length < 2 || groups.length === steps.length) return;
  const modules = element("table");
  modules.append(...table([["module", "long"], ...head, ["", "b"]],
    groups.map(([name, sums]) => [sums.ops, name, ...cells(sums), bar(sums[main] || 0, whole)])));
  box.append(element("h3", {}, "By module"), element("div", { class: "wide" }, modules));
}

// Float values over what the quantization holds; what lies outside is drawn beyond the lines.
function histogramOf(op) {
  const counts = op.quality.histogram;
  if (!counts.length) return "";
  const [below, ...held] = counts, above = held.pop();
  const most = Math.max(...counts, 1), width = held.length + 8, high = 26;
  // A root, so that few are seen beside many.
  const tall = (count) => (count ? Math.max(1, (high - 2) * Math.sqrt(count / most)) : 0);
  const svg = d3.create("svg").attr("class", "histogram").attr("viewBox", `0 0 ${width} ${high}`)
    .attr("preserveAspectRatio", "none").attr("role", "img");
  const bin = (at, count, kind) => count && svg.append("rect").attr("class", kind)
    .attr("x", at).attr("width", 0.9).attr("y", high - tall(count)).attr("height", tall(count));
  held.forEach((count, i) => bin(4 + i, count, ""));
  bin(1.5, below, "out");
  bin(width - 2.5, above, "out");
  for (const edge of [4, width - 4]) {
    svg.append("line").attr("x1", edge).attr("x2", edge).attr("y1", 0).attr("y2", high);
  }
  const used = held.filter((count) => count).length;
  const [low, top] = op.holds || [op.quality.low, op.quality.high];
  const text = `seen ${op.quality.low.toPrecision(3)} to ${op.quality.high.toPrecision(3)}, holds ${low.toPrecision(3)} to ${top.toPrecision(3)}, ` +
    `${used} of ${held.length} parts used${below + above ? `, ${number(below + above)} values outside` : ""}`;
  svg.attr("aria-label", text).append("title").text(text);
  return svg.node();
}

// Rows are right, columns are what the model chose.
function confusionOf(matrix) {
  const made = element("table", { class: "confusion" });
  const head = element("tr", {}, element("th", { scope: "col" }, "right \\ chosen"),
    ...matrix.map((_, i) => element("th", { scope: "col", class: "n" }, String(i))), element("th", { scope: "col", class: "n" }, "found"));
  const rows = matrix.map((row, i) => {
    const all = d3.sum(row);
    return element("tr", {}, element("th", { scope: "row" }, String(i)), ...row.map((count, j) => {
      const cell = element("td", { class: i === j ? "n right" : count ? "n wrong" : "n" }, count ? number(count) : "·");
      if (count) cell.style.setProperty("--share", `${Math.round((100 * count) / all)}%`);
      return cell;
    }), element("td", { class: "n" }, percent(row[i], all)));
  });
  made.append(element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { class: "wide" }, made);
}

// What the program printed of itself in this run: of how many images it chose the right class.
function onDevice() {
  const { "test images": all, "correct on device": right } = data.device;
  return all && right !== undefined && data.models.length === 1 ? [[`the board, ${number(all)} images`, right / all]] : [];
}

function sameBits() {
  const same = data.device["equal to the reference"] ?? data.device.equal;
  const all = data.device["test images"] ?? data.device.vectors;
  return same === undefined || !all || data.models.length > 1 ? "" : ` The board gave the very bits of the reference in ${number(same)} of ${number(all)}.`;
}

function drawQuality() {
  const box = at("quality-body");
  box.replaceChildren();
  at("quality").hidden = !model;
  if (!model) return;
  const { accuracy, outputs, samples, held_out: held } = model.quality;
  box.append(element("p", { class: "note" }, `Measured on ${number(samples)} ${held ? "held-out" : "calibration"} samples.${sameBits()}`));
  if (accuracy) {
    const made = element("table");
    const row = (name, value) => [[], name, `${(100 * value).toFixed(2)}%`, bar(value, 1)];
    made.append(...table([["right classes", ""], ["", "n"], ["", "b"]],
      [row("float32", accuracy.float32), row(`${kindOf(model)}, on the host`, accuracy.int8), ...onDevice().map((one) => row(...one))]));
    box.append(made);
  }
  const ports = element("table");
  const from = outputs.map((_, i) => outputs.length === model.outputs.length
    && model.ops.find((op) => op.outputs.some((one) => one.name === model.outputs[i].name)));
  ports.append(...table([["output", ""], ["from", "long hide-small"], ["SQNR", "n"], ["cosine", "n"], ["agreement", "n"]], outputs.map((o, i) => [from[i] ? [from[i].id] : [], model.paths[i] || o.name, from[i] ? from[i].module : "",
    decibels(o.sqnr_db), o.cosine === null ? "-" : o.cosine.toFixed(5), o.agreement === null ? "-" : `${(100 * o.agreement).toFixed(2)}%`])));
  box.append(ports);
  if (model.quality.confusion) {
    box.append(element("h3", {}, `Classes, ${kindOf(model)}`), confusionOf(model.quality.confusion));
  }
  box.append(element("h3", {}, "By op, the worst first"),
    element("p", { class: "note" }, "Alone: SQNR of the outputs with this value alone quantized. Range: float values, with what the quantization holds between the lines; heights are roots."));
  const clips = model.ops.some((op) => op.quality && op.quality.clipped);
  const cost = (op) => op.quality.alone_db ?? op.quality.sqnr_db ?? 150;
  const rows = model.ops.filter((op) => op.quality).sort((a, b) => cost(a) - cost(b)).map((op) => [[op.id], op.id, short(op.op), op.module,
    op.quality.alone_db === null ? "-" : decibels(op.quality.alone_db), decibels(op.quality.sqnr_db), histogramOf(op), ...(clips ? [op.quality.clipped ? percent(op.quality.clipped, 1) : ""] : [])]);
  const made = element("table");
  made.append(...table([["id", ""], ["op", ""], ["module", "long hide-small"], ["alone", "n"], ["SQNR", "n"], ["range", ""], ...(clips ? [["clipped", "n hide-small"]] : [])], rows));
  box.append(element("div", { class: "scroll" }, made));
  if (model.warnings.length) {
    box.append(element("h3", {}, "Warnings of lowering"), element("ul", {}, ...model.warnings.map((w) => element("li", {}, `${w.value || "data"}: ${w.text}`))));
  }
}

// Traffic becomes a column a memory, a share of what is possible a percentage.
function layerText(layer) {
  const { traffic = {}, utilization, ...rest } = layer;
  const bytes = Object.entries(traffic).map(([memory, sum]) => [`${memory} bytes`, sum]);
  const share = utilization === undefined ? {} : { utilization: percent(utilization, 1) };
  return { ...rest, ...share, ...Object.fromEntries(bytes) };
}

function drawNpu() {
  const delegates = model ? model.delegates : [];
  at("npu").hidden = !delegates.length;
  document.querySelector('nav a[href="#npu"]').hidden = !delegates.length;
  const box = at("npu-body");
  box.replaceChildren();
  for (const one of delegates) {
    const { report } = one;
    box.append(element("h3", {}, `${one.id}: ${one.backend} ${one.configuration}`), facts([
      ["payload", `${number(one.payload_bytes)} bytes`], ["scratch", `${number(one.scratch_bytes)} bytes`], ["MACs", number(one.macs)],
      ["cycles", report.cycles === undefined ? "" : `${number(report.cycles)}, as the NPU's model estimates`],
      ["of its layers", report.layers ? `${number(d3.sum(report.layers, (layer) => layer.cycles))}, as the backend's compiler estimates` : ""],
      ["operations", report.operations === undefined ? "" : number(report.operations)],
      ...(report.cuts || []).map((cut) => ["cut", cut])]));
    const names = new Map(one.ops.map((id) => [id, opOf(id)]));
    const layers = (report.layers || one.ops.map((id) => ({ op: id }))).map(layerText);
    const keys = [...new Set(layers.flatMap((layer) => Object.keys(layer)))].filter((key) => key !== "op");
    const made = element("table");
    made.append(...table([["op", ""], ["", ""], ["module", "long hide-small"], ...keys.map((key) => [key.replaceAll("_", " "), "n"])],
      layers.map((layer) => {
        const op = names.get(layer.op);
        return [op ? [op.id] : [], layer.op, op ? short(op.op) : "", op ? op.module : "",
          ...keys.map((key) => (typeof layer[key] === "number" ? number(layer[key]) : String(layer[key] ?? "")))];
      })));
    box.append(element("div", { class: "wide" }, made));
  }
}

function drawAdvice() {
  const kinds = [["smaller", "Smaller"], ["faster", "Faster"], ["better", "Better"]];
  at("advice-body").replaceChildren(...kinds.map(([key, title]) => {
    const items = data.advice[key].map((one) => {
      const ops = model && one.model === model.name ? one.ops.filter((id) => opOf(id)) : [];
      return element("li", picks(ops), one.text, element("small", {}, one.gain));
    });
    const list = items.length ? element("ol", {}, ...items) : element("p", { class: "note" }, "Nothing that stands out.");
    return element("div", {}, element("h3", {}, title), list);
  }));
}

function draw() {
  drawTop(); drawMemories(); drawArena(); drawFlash(); drawInstructions(); drawQuality(); drawNpu(); drawAdvice(); drawGraph();
  select(selected, null);
}

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
if (data.models.length > 1) {
  at("which").hidden = false;
  at("model").append(...data.models.map((one) => element("option", {}, one.name)));
  at("model").addEventListener("change", () => { model = data.models[at("model").selectedIndex]; selected = []; byOp = true; draw(); });
}
const wanted = /^#op=(.*)$/.exec(location.hash);
if (wanted) selected = decodeURIComponent(wanted[1]).split(",");
listen();
draw();
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
