// A bot for Beyond and a_way in JavaScript, for node: the rules of thumb of thumb.py.
//
//     beyond-away evaluate beyond "program:node examples/bots/thumb.mjs" --against random --games 200

import { createInterface } from "node:readline";

const SPIRITS = ["vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn"];
const spirit = (kind) => SPIRITS.find((name) => kind.startsWith(name));
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

/** The element with the highest value, the first of several. */
function best(items, value) {
  return items.reduce((chosen, item) => (value(item) > value(chosen) ? item : chosen));
}

function beyond(seen, legal) {
  const progress = seen.progress[0]; // pool cards that fit an enchantment, by spirit; entries of 0 are left out
  const fits = (kind) => progress[spirit(kind)] ?? 0;

  if (legal.includes("reveal")) return seen.bust_chance <= 35 ? "reveal" : "stop";
  if (legal.includes("place:spirit")) {
    const [kind] = Object.keys(seen.placing);
    const keep = fits(kind) > 0 || sum(seen.slots[0]) >= 2;
    return keep || !legal.includes("place:capture") ? "place:spirit" : "place:capture";
  }
  return best(legal, (name) => {
    const [what, ...details] = name.split(":");
    switch (what) {
      case "enchant": return 10 + seen.options["points_" + details[0]];
      case "summon": return 8;
      case "choose": return 5 + fits(details[0]);
      case "reclaim": return 5;
      case "capture": return details[1] === "nian" ? 0 : fits(details[1]);
      case "rescue": return fits(details[0]) - 1;
      case "end": return 1;
      case "pass": return 1;
      default: return 0;
    }
  });
}

const LANES = ["lane", "oneway", "double", "passage", "express", "crossroads", "junction", "fork", "overpass", "roundabout"]; // that lead east
const MOVES = ["hyperdrive", "solar_wind"];
const CHANGES = ["unstable_field", "cosmic_compass", "solar_rotation"];
const [SHIP, REACHABLE] = [32, 6]; // planes of the part `board`, as the hello names them

/** The own ship starts in the west of row 4 and has to come to its east end. Cells are in the own frame. */
function away(seen, legal) {
  const far = ([row, column]) => Math.abs(row - 4) + Math.abs(column - 8);
  const cellsOf = (plane) => plane.flatMap((line, row) => line.flatMap((there, column) => (there ? [[row, column]] : [])));
  const designs = (verb) =>
    Object.fromEntries(legal.filter((name) => name.startsWith(verb)).map((name) => [name.slice(verb.length).split(".")[0], name]));

  const here = cellsOf(seen.board[SHIP])[0] ?? [4, 0];
  const nearest = Math.min(99, ...cellsOf(seen.board[REACHABLE]).map(far));
  if (legal.includes("move") && nearest < far(here)) return "move";
  if (legal.includes("pass")) return "pass";
  const play = designs("play:");
  const discard = designs("discard:");
  if (Object.keys(play).length || Object.keys(discard).length) {
    const isWay = seen.moves_home[0] < 31; // there is a way home: leave the table as it is
    const wanted = isWay ? (nearest < far(here) ? MOVES : []) : [...LANES, ...CHANGES];
    const chosen = wanted.find((design) => design in play);
    if (chosen) return play[chosen];
    if (legal.includes("done")) return "done";
    const useless = Object.keys(discard).reverse().find((design) => !MOVES.includes(design) && !LANES.slice(0, 3).includes(design));
    if (useless) return discard[useless];
  }
  const cells = legal.filter((name) => name.startsWith("cell:")).map((name) => name.slice(5).split(",").map(Number));
  if (cells.length) {
    const moving = "move" in seen.effect || Object.keys(seen.card).some((card) => MOVES.includes(card.split(".")[0]));
    const order = ([row, column]) => -Math.abs(row - 4) * 100 - column - Math.random(); // the own row, west first
    return "cell:" + best(cells.map((cell) => ({ cell, value: moving ? -far(cell) : order(cell) })), (c) => c.value).cell.join(",");
  }
  if (legal.includes("turn:0") && "lay" in seen.effect) return "turn:0"; // as in the card table: lanes lead from west to east
  const some = legal.filter((name) => /^(play|discard|turn|stop):/.test(name));
  const from = some.length ? some : legal;
  return from[Math.floor(Math.random() * from.length)];
}

const PLAY = { beyond, away };
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
let game = "";

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    game = message.game;
    say({ type: "ready", protocol: 1, name: "thumb.mjs" });
  } else if (message.type === "decide") {
    say({ action: PLAY[game](message.decoded, message.legal) });
  } else if (message.type === "quit") {
    process.exit();
  } // start, end: nothing to answer
}
