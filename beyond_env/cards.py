"""The material of Beyond, as data: spirits, parts, kinds of card, patterns (rules: Material)."""

from __future__ import annotations

from typing import NamedTuple


class Spirit(NamedTuple):
    """A spirit: its colour, the parts its cards show, how many of each part an enchantment takes, and its points."""

    name: str
    colour: str
    parts: tuple[str, ...]
    pattern: tuple[int, ...]
    points: int
    copies: int  # of each kind (part and symbol)


SPIRITS = (
    Spirit("vermilion_bird", "orange", ("vermilion_bird",), (4,), 6, 8),
    Spirit("turtle_snake", "blue", ("turtle_snake",), (4,), 6, 8),
    Spirit("azure_dragon", "green", ("azure_dragon_head", "azure_dragon_body"), (2, 2), 9, 4),
    Spirit("metal_tiger", "purple", ("metal_tiger_head", "metal_tiger_body"), (2, 2), 9, 4),
    Spirit("unicorn", "yellow", ("unicorn_1", "unicorn_2", "unicorn_3", "unicorn_4"), (1, 1, 1, 1), 12, 2),
)
VERMILION_BIRD, TURTLE_SNAKE, AZURE_DRAGON, METAL_TIGER, UNICORN = range(5)
SPIRIT_NAMES = tuple(spirit.name for spirit in SPIRITS)

SYMBOLS = ("yin", "yang")
YIN, YANG = range(2)

PARTS = tuple(part for spirit in SPIRITS for part in spirit.parts)
SPIRIT_OF_PART = tuple(s for s, spirit in enumerate(SPIRITS) for _ in spirit.parts)
NEEDED_OF_PART = tuple(n for spirit in SPIRITS for n in spirit.pattern)  # cards of each part in one enchantment

KINDS = tuple(f"{part}_{symbol}" for part in PARTS for symbol in SYMBOLS)  # kind number = 2 x part + symbol
SPIRIT_OF_KIND = tuple(SPIRIT_OF_PART[k // 2] for k in range(len(KINDS)))
COPIES_OF_KIND = tuple(SPIRITS[s].copies for s in SPIRIT_OF_KIND)
FIRST_PART = tuple(SPIRIT_OF_PART.index(s) for s in range(5))  # of each spirit

NUM_SPIRITS, NUM_PARTS, NUM_KINDS = 5, 10, 20
NUM_CARDS = sum(COPIES_OF_KIND)  # 80
NUM_NIAN = 6
