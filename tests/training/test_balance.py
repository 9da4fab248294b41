"""What is measured of games: against games played by hand, one decision at a time, and against counts made in another way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import tabletop
from agents.random_agent import RandomAgent
from training.balance import BalanceWatch, Metric, metrics, own_balance
from training.play import play


def watched(game: str, rules: str, players: int, deals: int, agents: int = 1):
    variant = tabletop.game(game).variant(rules, players)
    watch = BalanceWatch(tabletop.game(game))
    seatings = [[0] * players] if agents == 1 else None
    games = play(game, variant, [RandomAgent()] * agents, deals, 3, seatings, watcher=watch)
    return variant, games, watch.columns(games)


@pytest.mark.parametrize("game", tabletop.games())
@pytest.mark.parametrize("players", [2, 3])
def test_every_metric_has_a_number_for_every_game(game: str, players: int) -> None:
    rules = "max_rounds=6" if "max_rounds" in tabletop.game(game).rules.names() else ""
    variant, games, columns = watched(game, rules, players, 10, agents=2)
    names = [metric.name for metric in metrics(tabletop.game(game), variant, agents=2)]
    assert len(set(names)) == len(names)
    assert {"deal", *names} == set(columns)
    for metric in metrics(tabletop.game(game), variant, agents=2):
        values = columns[metric.name]
        assert values.shape == games.deal.shape and np.isfinite(values).all()
        if metric.share or metric.name == "settled":
            assert values.min() >= 0 and values.max() <= 1, metric
    assert np.allclose(sum(columns[f"seat_{seat}"] for seat in range(players)), 1)


def test_watching_changes_nothing_and_salt_changes_what_agents_draw() -> None:
    variant, games, _ = watched("beyond", "protection=true", 2, 20)
    bare = play("beyond", variant, [RandomAgent()], 20, 3, [[0, 0]])
    assert bare.records.tobytes() == games.records.tobytes()
    salted = play("beyond", variant, [RandomAgent()], 20, 3, [[0, 0]], salt=1)
    assert salted.records.tobytes() != games.records.tobytes() and (salted.deal == games.deal).all()


class Diary:
    """Notes every decision, and what the position was before and after it."""

    def begin(self, tables: tabletop.Tables) -> None:
        self.tables, self.lines = tables, []

    def watch(self, tables: tabletop.Tables, rows: np.ndarray, actions: np.ndarray) -> None:
        for row, action in zip(rows, actions, strict=True):
            self.lines.append((int(row), tables.game.actions.names[action], tables.records[row].copy(), tables.action_mask[row].sum()))

    def end(self, tables: tabletop.Tables) -> None:
        pass


def test_counts_are_those_of_a_diary() -> None:
    rules = "protection=true,summoning=true,end_enchantments=1,end_depletions=1"
    variant, games, columns = watched("beyond", rules, 2, 30)
    diary = Diary()
    play("beyond", variant, [RandomAgent()], 30, 3, [[0, 0]], watcher=diary)
    spirits = ("vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn")
    from beyond_env.cards import KINDS

    def spirit(kind: int) -> str:
        return next(name for name in spirits if KINDS[kind].startswith(name))

    for game in range(30):
        mine = [(name, record, legal) for row, name, record, legal in diary.lines if row == game]
        assert columns["decisions"][game] == len(mine)
        assert np.isclose(columns["choices"][game], np.mean([legal for _, _, legal in mine]))
        for metric, word in [("captures", "capture:"), ("rescues", "rescue:"), ("protections", "protect:"), ("summons", "summon:")]:
            assert columns[metric][game] == sum(name.startswith(word) for name, _, _ in mine)
        busts = 0
        for name, record, _ in mine:
            if name == "reveal":
                lying = {spirit(kind) for kind in record["revealed"][: record["num_revealed"]]}
                busts += spirit(record["deck"][record["deck_size"] - 1]) in lying
        assert columns["busts"][game] == busts
    assert columns["busts"].sum() > 30 and columns["summons"].sum() > 0
    assert np.allclose(sum(columns[f"summons_{name}"] for name in spirits), columns["summons"])
    ended = [columns[f"ended_{how}"] for how in ("spirits", "depletion", "both", "nian")]
    assert (sum(ended) == 1).all() and ended[0].sum() > 0
    from beyond_env.ending import score

    points = np.array([[score(record, seat) for seat in range(2)] for record in games.records])
    assert (columns["margin"] == abs(points[:, 0] - points[:, 1])).all()


def test_lead_and_drama_are_those_of_a_diary() -> None:
    variant, games, columns = watched("beyond", "", 3, 25)
    diary = Diary()
    play("beyond", variant, [RandomAgent()], 25, 3, [[0, 0, 0]], watcher=diary)
    own = own_balance(tabletop.game("beyond"))
    assert own is not None
    for game in range(25):
        leads: dict[int, set[int]] = {}
        for row, _, record, _ in diary.lines:
            if row == game:
                points = own.standing(np.array([record]))[0, :3]
                leads.setdefault((record["turns"] + 2) // 3, set(np.flatnonzero(points == points.max()).tolist()))
        alone = [min(who) for who in leads.values() if len(who) == 1]
        assert columns["lead_changes"][game] == sum(a != b for a, b in pairwise(alone))
        rounds = (games.records["turns"][game] + 2) // 3
        winners = np.flatnonzero(games.records["won"][game])
        settled = np.mean([max([number for number, who in leads.items() if w not in who], default=0) for w in winners]) / rounds
        assert np.isclose(columns["settled"][game], settled)
        half = max(number for number in leads if number <= (rounds + 1) // 2)
        assert np.isclose(columns["led_half_way"][game], np.mean([w in leads[half] for w in winners]))


def test_a_way_counts_its_cards_and_arrivals() -> None:
    variant, games, columns = watched("away", "size=5,max_rounds=60", 2, 25)
    diary = Diary()
    play("away", variant, [RandomAgent()], 25, 3, [[0, 0]], watcher=diary)
    own = own_balance(tabletop.game("away"))
    assert own is not None
    plays = [(row, name) for row, name, _, _ in diary.lines if name.startswith("play:")]
    for game in range(25):
        mine = [name.removeprefix("play:") for row, name in plays if row == game]
        assert columns["laid"][game] + columns["action_cards"][game] == len(mine)
        for metric, _ in own.COUNTED[4:]:
            assert columns[metric.name][game] == sum(name.startswith(f"{metric.name}.") for name in mine)
    assert np.allclose(sum(columns[metric.name] for metric, _ in own.COUNTED[4:]), columns["action_cards"])
    assert (columns["single_arrival"] + columns["several_arrivals"] + columns["cut_off"] == 1).all()
    assert columns["single_arrival"].sum() > 0 and columns["cut_off"].sum() > 0
    assert (games.records["home"].sum(axis=1) == 1).sum() == columns["single_arrival"].sum()


def test_a_game_without_measures_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.balance.own_balance", lambda game: None)
    variant, _, columns = watched("beyond", "", 2, 5)
    told = metrics(tabletop.game("beyond"), variant)
    assert {m.name for m in told} == {"seat_0", "seat_1", "cut_off", "decisions", "choices"} and all(m.name in columns for m in told)
    assert isinstance(told[0], Metric)
