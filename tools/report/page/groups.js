// SPDX-License-Identifier: Apache-2.0
// A graph of parts: ops that run one after another and are of one module are one node, which can be
// opened. Of such stretches none reads a later one, so that they make a graph without cycles.
"use strict";

// How many nodes there are to begin with, of fewer ops fewer, and what one opens into at most.
const FIRST_NODES = 60;
const FEWEST_NODES = 12;
const OPS_A_NODE = 4;
const MOST_PARTS = 40;

const pathOf = (op) => op.module.replace(/ \(.*$/, "").split(".").filter(Boolean);

const single = (op) => ({ id: op.id, name: pathOf(op).join("."), depth: 0, ops: [op] });

function stretch(ops, name, depth) {
  return ops.length === 1 ? single(ops[0]) : { id: `${ops[0].id} to ${ops[ops.length - 1].id}`, name, depth, ops };
}

// Stretches of equal modules, as far as the first `depth` names of their paths go.
function stretches(ops, depth) {
  const keys = ops.map((op) => pathOf(op).slice(0, depth).join("."));
  const starts = d3.range(ops.length).filter((i) => i === 0 || keys[i] !== keys[i - 1]);
  return starts.map((start, i) => stretch(ops.slice(start, starts[i + 1]), keys[start], depth));
}

// Neighbours together, where there are too many to be seen at once.
function bundles(parts, depth) {
  const size = Math.ceil(parts.length / MOST_PARTS);
  if (size === 1) return parts;
  return d3.range(0, parts.length, size).map((i) => {
    const some = parts.slice(i, i + size);
    const [first, last] = [some[0].name, some[some.length - 1].name];
    return stretch(some.flatMap((part) => part.ops), first === last ? first : `${first} … ${last.split(".").pop()}`, depth);
  });
}

// What a node opens into: parts of its module, else its ops.
function partsOf(group) {
  const deepest = d3.max(group.ops, (op) => pathOf(op).length);
  for (let depth = group.depth + 1; depth <= deepest; depth++) {
    const parts = stretches(group.ops, depth);
    if (parts.length > 1) return bundles(parts, depth - 1);
  }
  return bundles(group.ops.map(single), deepest);
}

// All ops in few nodes: the largest are opened first.
function overview(ops) {
  let nodes = [stretch(ops, "", 0)];
  const most = Math.min(FIRST_NODES, Math.max(FEWEST_NODES, ops.length / OPS_A_NODE));
  const closed = new Set();
  for (;;) {
    const largest = d3.greatest(nodes.filter((one) => one.ops.length > 1 && !closed.has(one)), (one) => one.ops.length);
    if (!largest) return nodes;
    const parts = partsOf(largest);
    if (nodes.length === 1 || nodes.length + parts.length <= most) nodes = opened(nodes, largest, parts);
    else closed.add(largest);
  }
}

function opened(nodes, one, parts) {
  return nodes.flatMap((node) => (node === one ? parts : [node]));
}
