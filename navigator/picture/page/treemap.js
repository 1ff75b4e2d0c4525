// The layout of both maps.

const HEAD = 16;
const EDGE = 1;
const LEAST_WIDTH = 40;
const LEAST_HEIGHT = 34;

/** Place areas, the largest first, in a box: rows along its shorter side, as square as they get. */
function squarify(areas, box) {
  const places = [];
  let { x, y, w, h } = box;
  let left = areas.reduce((sum, area) => sum + area, 0);
  let at = 0;
  while (at < areas.length && w > 0 && h > 0 && left > 0) {
    const scale = (w * h) / left;
    const side = Math.min(w, h);
    let taken = areas[at] * scale;
    let end = at + 1;
    let worst = Math.max((side * side) / taken, taken / (side * side));
    while (end < areas.length) {
      const more = taken + areas[end] * scale;
      const square = side * side;
      const next = Math.max((square * areas[at] * scale) / (more * more), (more * more) / (square * areas[end] * scale));
      if (next > worst) break;
      worst = next;
      taken = more;
      end += 1;
    }
    const depth = taken / side;
    let along = w >= h ? y : x;
    for (let each = at; each < end; each += 1) {
      const length = (areas[each] * scale) / depth;
      places.push(w >= h ? { x, y: along, w: depth, h: length } : { x: along, y, w: length, h: depth });
      along += length;
      left -= areas[each];
    }
    if (w >= h) {
      x += depth;
      w -= depth;
    } else {
      y += depth;
      h -= depth;
    }
    at = end;
  }
  return places;
}

/** Return where each node below `root` is, folders before what is in them, and which are open: drawn with that. */
function layout(root, sizeOf, width, height) {
  const placed = [];
  const visit = (node, box, depth) => {
    const isOpen = node.children.length > 0 && (node === root || (box.w >= LEAST_WIDTH && box.h >= LEAST_HEIGHT));
    placed.push({ node, ...box, depth, isOpen });
    if (!isOpen) return;
    const head = node === root ? 0 : HEAD;
    const inner = { x: box.x + EDGE, y: box.y + head + EDGE, w: box.w - 2 * EDGE, h: box.h - head - 2 * EDGE };
    const children = [...node.children].sort((a, b) => sizeOf(b) - sizeOf(a) || a.at - b.at);
    const places = squarify(children.map(sizeOf), inner);
    places.forEach((place, each) => visit(children[each], place, depth + 1));
  };
  visit(root, { x: 0, y: 0, w: width, h: height }, 0);
  return placed;
}
