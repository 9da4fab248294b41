"""The 129 actions of Beyond, by name, and where each block of them begins."""

from __future__ import annotations

from beyond_env.cards import KINDS, SPIRIT_NAMES
from tabletop.actions import Actions

ACTIONS = Actions(
    [
        "reveal",
        "stop",
        *(f"rescue:{spirit}" for spirit in SPIRIT_NAMES),
        "pass",
        "place:spirit",
        "place:capture",
        *(f"enchant:{spirit}" for spirit in SPIRIT_NAMES),
        *(f"capture:{k}:{kind}" for k in (1, 2, 3) for kind in (*KINDS, "nian")),
        *(f"protect:{kind}" for kind in KINDS),
        *(f"summon:{spirit}" for spirit in SPIRIT_NAMES),
        *(f"choose:{kind}" for kind in KINDS),
        *(f"reclaim:{spirit}" for spirit in SPIRIT_NAMES),
        "end",
    ]
)

A_REVEAL = ACTIONS.id("reveal")
A_STOP = ACTIONS.id("stop")
A_RESCUE = ACTIONS.first("rescue")  # + spirit
A_PASS = ACTIONS.id("pass")
A_PLACE_SPIRIT = ACTIONS.id("place:spirit")
A_PLACE_CAPTURE = ACTIONS.id("place:capture")
A_ENCHANT = ACTIONS.first("enchant")  # + spirit
A_CAPTURE = ACTIONS.first("capture")  # + (k - 1) * CAPTURE_STRIDE + kind, or + 20 for a Nian Shou
CAPTURE_STRIDE = len(KINDS) + 1
CAPTURE_NIAN = len(KINDS)
A_PROTECT = ACTIONS.first("protect")  # + kind
A_SUMMON = ACTIONS.first("summon")  # + spirit
A_CHOOSE = ACTIONS.first("choose")  # + kind
A_RECLAIM = ACTIONS.first("reclaim")  # + spirit
A_END = ACTIONS.id("end")

MEANINGS = {
    "reveal": "reveal the deck's top card",
    "stop": "stop revealing and collect every revealed card",
    "rescue:<spirit>": "after a bust: pay a lotus token to collect also the card of that spirit",
    "pass": "after a bust: rescue no more",
    "place:spirit": "put the next collected card face up into the pool",
    "place:capture": "put the next collected card back up into a capture slot",
    "enchant:<spirit>": "take a full pattern of that spirit from the pool",
    "capture:<k>:<kind>": "take a card of that kind from the pool of the opponent k seats on",
    "capture:<k>:nian": "take a Nian Shou from the opponent k seats on",
    "protect:<kind>": "lay a lotus token on an own pool card of that kind (protection)",
    "summon:<spirit>": "lay a lotus token on an own enchantment of that spirit (summoning)",
    "choose:<kind>": "the card that a summon brings",
    "reclaim:<spirit>": "the enchantment whose token a unicorn returns to the supply",
    "end": "end the turn",
}
