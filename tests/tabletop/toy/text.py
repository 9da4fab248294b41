"""A position of the toy game as text, and back."""

import numpy as np

from tabletop.errors import SetupError
from tabletop.rules import Variant
from toy import STATE, ToyRules

NUMBERS = ("limit", "decisions", "seat", "over", "drawn", "round", "deck_size")
ARRAYS = ("won", "discard", "deck", "hand", "stream")


def text(record, seat=None):
    lines = [str(Variant(int(record["players"]), ToyRules.from_codes(record["options"])))]
    lines += [f"{name}: {record[name]}" for name in NUMBERS]
    for name in ARRAYS:
        if seat is None or name in ("won", "discard"):
            lines.append(f"{name}: {' '.join(map(str, record[name].ravel().tolist()))}")
    if seat is not None:
        lines.append(f"my hand: {sorted(record['hand'][seat].tolist())}")
    return "\n".join(lines)


def parse(text):
    first, *lines = text.splitlines()
    records = np.zeros(1, STATE)
    variant = Variant.parse(first, ToyRules)
    records["players"] = variant.players
    records["options"] = variant.rules.codes()
    for line in lines:
        name, _, value = line.partition(": ")
        if name in NUMBERS:
            records[name] = int(value)
        elif name in ARRAYS:
            records[name] = np.array([int(v) for v in value.split()], STATE[name].base).reshape(records[name].shape)
        else:
            raise SetupError(f"{name}: only a text of everything can be read")
    return records
