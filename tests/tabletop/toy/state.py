"""What of the record is hidden, and the set-ups of `reset`."""

from tabletop.errors import SetupError

HIDDEN = ("deck", "hand")
SET_UP = {"hand": "the card of seat 0"}


def set_up(records, options):
    card = options["hand"]
    if card not in range(1, 13):
        raise SetupError(f"there is no card {card!r}")
    deck, hand = records["deck"][0], records["hand"][0]
    mine = hand[0, 0]
    deck[deck == card] = mine
    hand[hand == card] = mine
    hand[0, 0] = card
