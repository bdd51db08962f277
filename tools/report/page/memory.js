// SPDX-License-Identifier: Apache-2.0
// Memory: what the board has, the arena over steps, flash as a treemap.
"use strict";

const KINDS = {
  weights: "weights", tables: "tables", plan: "plan", kernels: "kernels", runtime: "runtime and board",
  library: "C library", program: "program and its data",
};

function drawMemories() {
  const rows = data.memories.map((memory) => [[], memory.name, memory.kind, number(memory.used),
    number(memory.size), percent(memory.used, memory.size), memory.used ? bar(memory.used, memory.size) : ""]);
  at("memory-note").hidden = !(data.engine_is_simulated && data.models.some((one) => one.delegates.length));
  const { bound, size, path, problem } = data.stack;
  at("stack-note").hidden = bound !== null;
  at("stack-note").textContent = `What the program takes of the stack's ${number(size)} bytes has no bound: ${[problem, ...(path.length ? [path.join(" → ")] : [])].join(", ")}.`;
  at("memories").replaceChildren(...table([["memory", ""], ["kind", ""], ["used", "n"], ["of bytes", "n"], ["", "n"], ["", "b"]], rows));
}

function drawArena() {
  const box = at("arena");
  box.replaceChildren();
  if (!model || !model.blocks.length) {
    box.append(element("p", { class: "note" }, `No arena to show: ${noPlan()}.`));
    return;
  }
  for (const pool of model.arena.pools.filter((one) => one.used)) drawPool(box, pool);
}

function drawPool(box, pool) {
  const blocks = model.blocks.filter((block) => block.pool === pool.name);
  const last = Math.max(...model.steps.map((step) => step.step), 1) + 1;
  const width = Math.max(box.clientWidth, 320);
  const [left, right, top, bottom] = [64, 16, 8, 24];
  const height = 240;
  const x = d3.scaleLinear([0, last + 1], [left, width - right]);
  const y = d3.scaleLinear([0, pool.used], [height - bottom, top]);
  const peak = model.arena.peak;
  const same = model.arena.pools.filter((one) => one.used).length === 1;
  const bound = same ? `; no plan could take less than ${number(model.arena.lower_bound)}` : "";
  box.append(element("p", { class: "note" },
    `${pool.name}: ${number(pool.used)} of ${number(pool.bytes)} bytes (${percent(pool.used, pool.bytes)})${bound}. Largest at ${peak.what}. Left to right: steps; upwards: addresses.`));
  const svg = d3.select(box).append("svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", "100%").attr("role", "group").attr("aria-label", `Arena in ${pool.name}`);
  for (const tick of y.ticks(4)) {
    svg.append("line").attr("class", "axis").attr("x1", left).attr("x2", width - right).attr("y1", y(tick)).attr("y2", y(tick));
    svg.append("text").attr("class", "soft").attr("x", left - 6).attr("y", y(tick) + 4).attr("text-anchor", "end").text(number(tick));
  }
  for (const tick of x.ticks(Math.min(last, width / 60)).filter((one) => Number.isInteger(one) && one <= last)) {
    svg.append("text").attr("class", "soft").attr("x", x(tick + 0.5)).attr("y", height - 8).attr("text-anchor", "middle")
      .text(tick === 0 ? "in" : tick === last ? "out" : tick);
  }
  for (const block of blocks) {
    const scratch = block.name.startsWith("scratch");
    const group = svg.append("g").attr("class", `block ${scratch ? "scratch" : ""}`);
    const op = opOf(block.op);
    const ops = op ? [op.id] : (model.inside.get(block.op) || []).map((one) => one.id);
    if (ops.length) {
      group.attr("data-ops", ops.join(" ")).attr("tabindex", 0).attr("role", "button")
        .attr("aria-label", `${block.name}, ${block.bytes} bytes, steps ${block.first} to ${block.last}`);
    }
    const [x0, x1] = [x(block.first), x(block.last + 1)];
    const [y0, y1] = [y(block.offset + block.bytes), y(block.offset)];
    // A border would be all that is seen of a narrow one.
    group.classed("narrow", x1 - x0 < 4);
    group.append("rect").attr("x", x0).attr("y", y0).attr("width", x1 - x0).attr("height", Math.max(1, y1 - y0));
    group.append("title").text(`${block.name}: ${number(block.bytes)} bytes from ${number(block.offset)}, steps ${block.first} to ${block.last}`);
    const text = op ? `${op.id} ${short(op.op)}${scratch ? " scratch" : ""}` : block.first > 0 ? block.name : block.last === last ? "state" : "input";
    if (y1 - y0 > 13 && x1 - x0 > 7 * text.length) {
      group.append("text").attr("x", x0 + 5).attr("y", (y0 + y1) / 2 + 4).text(text);
    }
  }
}

function drawFlash() {
  const kinds = Object.keys(KINDS).filter((kind) => data.symbols.some((s) => s.kind === kind));
  const bytes = (rows) => d3.sum(rows, (row) => row.bytes);
  at("legend").replaceChildren(...kinds.map((kind) => {
    const key = element("i");
    key.style.background = `var(--${kind})`;
    return element("span", {}, key, `${KINDS[kind]} ${number(bytes(data.symbols.filter((s) => s.kind === kind)))}`);
  }));
  const tree = d3.hierarchy({
    children: kinds.map((kind) => ({ kind, children: data.symbols.filter((symbol) => symbol.kind === kind) })),
  }).sum((row) => row.bytes || 0).sort((a, b) => b.value - a.value);
  const box = at("treemap");
  d3.treemap().size([box.clientWidth, box.clientHeight]).paddingOuter(2).paddingTop((n) => (n.depth === 1 ? 18 : 0)).paddingInner(1).round(true)(tree);
  const place = (made, node) => Object.assign(made.style, {
    left: `${node.x0}px`, top: `${node.y0}px`, width: `${node.x1 - node.x0}px`, height: `${node.y1 - node.y0}px` });
  box.replaceChildren();
  for (const node of tree.children || []) {
    const title = element("div", { class: "group" }, `${KINDS[node.data.kind]} ${number(node.value)}`);
    Object.assign(title.style, { left: `${node.x0 + 3}px`, top: `${node.y0 + 1}px`, width: `${Math.max(0, node.x1 - node.x0 - 6)}px` });
    if (node.x1 - node.x0 > 60) box.append(title);
    for (const leaf of node.children) {
      const symbol = leaf.data;
      const wide = leaf.x1 - leaf.x0, high = leaf.y1 - leaf.y0;
      if (!wide || !high) continue; // too small for a pixel; the table has it
      const text = `${symbol.name}, ${number(symbol.bytes)} bytes, ${symbol.origin}, in ${symbol.memory}`;
      const ops = opsOf(symbol);
      const cell = element("div", { class: "cell", title: text, ...picks(ops) });
      if (ops.length) { cell.setAttribute("role", "button"); cell.setAttribute("aria-label", text); }
      cell.style.background = `var(--${node.data.kind})`;
      place(cell, leaf);
      if (wide > 44 && high > 16) {
        cell.append(element("b", {}, symbol.name));
        if (high > 32) cell.append(element("span", {}, number(symbol.bytes)));
      } else cell.style.padding = "0";
      box.append(cell);
    }
  }
  at("symbols").replaceChildren(...table(
    [["symbol", "long"], ["bytes", "n"], ["what", ""], ["from", "hide-small"], ["in", "hide-small"]],
    data.symbols.map((s) => [opsOf(s), element("code", {}, s.name), number(s.bytes), KINDS[s.kind], s.origin, s.memory])));
}
