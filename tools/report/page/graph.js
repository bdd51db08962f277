// SPDX-License-Identifier: Apache-2.0
// The graph of ops: laid out by dagre, drawn as SVG, zoomed by d3.
"use strict";

const NODE_HEIGHT = 54;
// A longer graph takes dagre long, and at 2,000 ops in a row more stack than browsers have.
const MOST_NODES = 1000;
// Fewer ops than that are seen at once as they are.
const FEW_OPS = 40;
let zoomed = null;
let laidOut = null;
// What is drawn: stretches of ops, by the ids of which each is found; whether each op is one.
let parts = [];
let partOf = new Map();
let byOp = true;

function nodeWidth(lines) {
  return Math.max(110, 18 + 7.3 * Math.max(...lines.map((line) => line.length)));
}

// The end of a path says more than its start.
function clipStart(text, length) {
  return text.length > length ? `…${text.slice(1 - length)}` : text;
}

// A module with its class, or of a long one where its path ends.
function placeOf(module) {
  return module.length > 30 ? clipStart(module.replace(/ \(.*$/, ""), 30) : module;
}

function clip(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

const nodeOf = (id) => partOf.get(id) ?? id;

function linesOf(part) {
  const [op] = part.ops;
  const on = new Set(part.ops.map((one) => (one.delegate !== null ? "npu" : one.op.startsWith("pl.") ? "cpu" : "float")));
  const kind = ["float", "npu", "cpu"].find((one) => on.has(one));
  const mark = { npu: " · NPU", cpu: "", float: " · float" }[kind];
  if (part.ops.length === 1) return [kind, [`${op.id}  ${short(op.op)}${mark}`, placeOf(op.module), shape(op.outputs[0])]];
  const share = percent(instructionsOf(part.ops), total());
  return [`${kind} many`, [clipStart(part.name || model.name, 30), `${number(part.ops.length)} ops, ${part.id}${on.size > 1 ? "" : mark}`,
    share ? `${share} of instructions` : shape(part.ops[part.ops.length - 1].outputs[0])]];
}

function graphOf(model) {
  const graph = new dagre.graphlib.Graph().setGraph({ ranksep: 34, nodesep: 26, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const add = (id, kind, lines, ops) =>
    graph.setNode(id, { kind, lines, ops, width: nodeWidth(lines), height: kind === "port" ? 40 : NODE_HEIGHT });
  const ports = [...model.inputs, ...model.states];
  for (const port of ports) add(`in ${port.name}`, "port", [clip(port.name, 26), shape(port)], []);
  for (const part of parts) {
    add(part.id, ...linesOf(part), part.ops.map((op) => op.id));
    for (const before of new Set(part.ops.flatMap((op) => op.after.map(nodeOf)))) {
      if (before !== part.id) graph.setEdge(before, part.id);
    }
  }
  const made = new Map(model.ops.flatMap((op) => op.outputs.map((output) => [output.name, nodeOf(op.id)])));
  model.outputs.forEach((port, i) => {
    if (!made.has(port.name)) return;
    // One tensor may be returned twice.
    add(`out ${i} ${port.name}`, "port", [clip(model.paths[i] || port.name, 26), "output"], []);
    graph.setEdge(made.get(port.name), `out ${i} ${port.name}`);
  });
  dagre.layout(graph);
  return graph;
}

function choose(some) {
  parts = some;
  partOf = new Map(parts.flatMap((part) => part.ops.map((op) => [op.id, part.id])));
}

// Ops, or the parts that they are of: what a graph of very many ops begins with.
function chooseParts() {
  byOp = model.ops.length <= MOST_NODES && byOp;
  choose(byOp ? model.ops.map(single) : overview(model.ops));
}

// The node that the selected op is in, and what it opens to; null where there is no more in it, or more than is drawn.
function toOpen() {
  const part = selected.length && parts.find((one) => one.id === nodeOf(selected[0]));
  if (!part || part.ops.length === 1) return null;
  const more = partsOf(part);
  return parts.length + more.length > MOST_NODES ? null : { part, more };
}

function openSelected() {
  const found = toOpen();
  if (!found) return;
  choose(opened(parts, found.part, found.more));
  drawParts();
  select([...selected], null);
}

function drawButtons() {
  const canGroup = model.ops.length > FEW_OPS;
  const isGrouped = parts.some((part) => part.ops.length > 1);
  at("by-op").hidden = !canGroup || model.ops.length > MOST_NODES;
  at("by-op").setAttribute("aria-pressed", byOp);
  at("by-part").hidden = !canGroup;
  at("by-part").setAttribute("aria-pressed", !byOp);
  at("open").hidden = !isGrouped;
  at("open").disabled = !toOpen();
}

function drawGraph() {
  d3.select("#graph-svg").selectAll("*").remove();
  const drawn = Boolean(model && data.graph);
  for (const part of document.querySelectorAll("#graph .canvas, #graph .hint")) part.hidden = !drawn;
  at("graph").hidden = !model || !model.ops.length;
  at("graph-note").hidden = drawn;
  at("graph-note").textContent = "Not drawn: the page does not have all ops. Tables and the arena have those that cost most.";
  laidOut = null;
  if (!drawn) return;
  chooseParts();
  drawParts();
}

function drawParts() {
  const svg = d3.select("#graph-svg");
  svg.selectAll("*").remove();
  drawButtons();
  const graph = graphOf(model);
  laidOut = graph;
  svg.append("defs").append("marker")
    .attr("id", "arrow").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
    .attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto")
    .append("path").attr("d", "M0 0L8 4L0 8z").attr("fill", "var(--soft)");
  const layer = svg.append("g");
  const line = d3.line((p) => p.x, (p) => p.y).curve(d3.curveBasis);
  for (const edge of graph.edges()) {
    layer.append("path").attr("class", "edge").attr("marker-end", "url(#arrow)")
      .attr("data-from", edge.v).attr("data-to", edge.w).attr("d", line(graph.edge(edge).points));
  }
  for (const id of graph.nodes()) {
    const node = graph.node(id);
    const group = layer.append("g").attr("class", `node ${node.kind}`)
      .attr("transform", `translate(${node.x - node.width / 2},${node.y - node.height / 2})`);
    if (node.ops.length) {
      group.attr("data-ops", node.ops.join(" ")).attr("tabindex", 0).attr("role", "button")
        .attr("aria-label", node.lines.filter(Boolean).join(", "));
    }
    group.append("rect").attr("width", node.width).attr("height", node.height).attr("rx", 5);
    const lines = node.lines.filter(Boolean);
    lines.forEach((text, i) => group.append("text").attr("class", i ? "soft" : "")
      .attr("x", node.width / 2).attr("text-anchor", "middle")
      .attr("y", (node.height * (i + 1)) / (lines.length + 1) + 4).text(text));
  }
  zoomed = d3.zoom().scaleExtent([0.05, 4]).on("zoom", (event) => layer.attr("transform", event.transform));
  svg.call(zoomed).on("dblclick.zoom", null);
  fitGraph(graph);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    const by = Number(button.dataset.zoom);
    button.onclick = () => (by ? svg.transition().duration(150).call(zoomed.scaleBy, by) : fitGraph(graph, true));
  }
}

// Moves the graph to an op that is not in sight.
function showInGraph(id) {
  const node = laidOut && laidOut.node(nodeOf(id));
  if (!node) return;
  const svg = at("graph-svg"), box = svg.getBoundingClientRect();
  const [x, y] = d3.zoomTransform(svg).apply([node.x, node.y]);
  if (x < 0 || y < 0 || x > box.width || y > box.height) d3.select(svg).call(zoomed.translateTo, node.x, node.y);
}

// All of a small graph; of a long one the width, from its start.
function fitGraph(graph, whole = false) {
  const box = at("graph-svg").getBoundingClientRect();
  const { width, height } = graph.graph();
  const all = Math.min(box.width / width, box.height / height);
  const scale = Math.min(1.1, whole ? all : Math.max(all, Math.min(0.8, box.width / width)));
  const top = whole || height * scale <= box.height ? (box.height - height * scale) / 2 : 0;
  d3.select("#graph-svg").call(zoomed.transform,
    d3.zoomIdentity.translate((box.width - width * scale) / 2, top).scale(scale));
}
