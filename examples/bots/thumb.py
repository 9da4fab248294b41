"""A bot for Beyond and a_way in plain Python: a few rules of thumb on the decoded observation, and nothing but the standard library.

beyond-away evaluate beyond "program:python3 examples/bots/thumb.py" --against random --games 200
"""

import json
import random
import sys


def spirit(kind):
    """The spirit of a kind of card: unicorn of unicorn_3_yin."""
    return next(name for name in ("vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn") if kind.startswith(name))


def beyond(seen, legal):
    progress = seen["progress"][0]  # pool cards that fit an enchantment, by spirit; entries of 0 are left out

    def fits(kind):
        return progress.get(spirit(kind), 0)

    if "reveal" in legal:
        return "reveal" if seen["bust_chance"] <= 35 else "stop"
    if "place:spirit" in legal:
        (kind,) = seen["placing"]
        keep = fits(kind) > 0 or sum(seen["slots"][0].values()) >= 2
        return "place:spirit" if keep or "place:capture" not in legal else "place:capture"
    best, most = legal[0], -1.0
    for name in legal:
        what, *details = name.split(":")
        worth = {"enchant": 10, "summon": 8, "choose": 5, "reclaim": 5, "end": 1, "pass": 1}.get(what, 0)
        if what == "enchant":
            worth += seen["options"]["points_" + details[0]]
        if what == "rescue":
            worth = fits(details[0]) - 1
        if what == "choose":
            worth += fits(details[0])
        if what == "capture" and details[1] != "nian":
            worth = fits(details[1])
        if worth > most:
            best, most = name, worth
    return best


LANES = ("lane", "oneway", "double", "passage", "express", "crossroads", "junction", "fork", "overpass", "roundabout")  # that lead east
MOVES = ("hyperdrive", "solar_wind")
CHANGES = ("unstable_field", "cosmic_compass", "solar_rotation")


def away(seen, legal):
    """The own ship starts in the west of row 4 and has to come to its east end. Cells are in the own frame."""
    ships, stops = seen["board"][SHIP], seen["board"][REACHABLE]
    here = next(((row, column) for row in range(9) for column in range(9) if ships[row][column]), (4, 0))

    def far(cell):
        return abs(cell[0] - 4) + abs(cell[1] - 8)

    def designs(verb):
        return {name.removeprefix(verb).partition(".")[0]: name for name in legal if name.startswith(verb)}

    nearest = min((far((row, column)) for row in range(9) for column in range(9) if stops[row][column]), default=99)
    if "move" in legal and nearest < far(here):
        return "move"
    if "pass" in legal:
        return "pass"
    play, discard = designs("play:"), designs("discard:")
    if play or discard:
        if seen["moves_home"][0] < 31:  # there is a way home: leave the table as it is
            wanted = MOVES if nearest < far(here) else ()
        else:
            wanted = LANES + CHANGES
        for design in wanted:
            if design in play:
                return play[design]
        if "done" in legal:
            return "done"
        for design in reversed(list(discard)):
            if design not in MOVES and design not in LANES[:3]:
                return discard[design]
    cells = [tuple(map(int, name[5:].split(","))) for name in legal if name.startswith("cell:")]
    if cells:
        if "move" in seen["effect"] or any(card.partition(".")[0] in MOVES for card in seen["card"]):
            cell = min(cells, key=far)
        else:  # a card is laid or turned: in the own row, west first
            cell = min(cells, key=lambda at: (abs(at[0] - 4), at[1] + random.random()))
        return f"cell:{cell[0]},{cell[1]}"
    if "turn:0" in legal and "lay" in seen["effect"]:
        return "turn:0"  # as in the card table: lanes lead from west to east
    return random.choice([name for name in legal if name.startswith(("play:", "discard:", "turn:", "stop:"))] or legal)


PLAY = {"beyond": beyond, "away": away}
SHIP, REACHABLE = 32, 6  # planes of the part `board`, as the hello names them


def main():
    game = ""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            game = message["game"]
            answer = {"type": "ready", "protocol": 1, "name": "thumb"}
        elif message["type"] == "decide":
            answer = {"action": PLAY[game](message["decoded"], message["legal"])}
        elif message["type"] == "quit":
            break
        else:  # start, end: nothing to answer
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
