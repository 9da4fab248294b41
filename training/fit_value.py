"""Fit the network that a game's search judges positions by (`agents.value_network`), to the ends of games that agents play.

    python -m training.fit_value beyond

plays games of every number of players, with variants drawn by chance, notes positions that a search may come to judge and who won, and
fits chances of victory to that by maximum likelihood. One action in `--astray` is random, for a search also looks at what no good
player would do. The last tenth of the games is kept aside: what is said of the fit is measured on it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import tyro

import tabletop
from agents.named import agent as agent_named
from agents.search import kernels, own_module
from agents.value_network import NAMES, file_of
from tabletop.errors import RulesError
from tabletop.opponents import answer
from tabletop.registry import Game
from tabletop.rules import Rules
from tabletop.sampling import random_actions
from training.files import replaced

HIDDEN = (64, 32)
TABLES = 384  # played at the same time
BATCH = 2048  # positions of a step of the fit
KEPT_ASIDE = 0.1  # of the games


def draw_rules(game: Game, players: int, rng: np.random.Generator) -> Rules:
    """Rules by chance: half of the options that are yes or no at their other value; in every third draw two others somewhere near."""
    while True:
        chosen: dict[str, Any] = {}
        allowed = game.rules.allowed()
        flags = [name for name, a in allowed.items() if a.is_bool]
        numbers = [name for name, a in allowed.items() if not a.is_bool and a.texts is None]
        for name in flags:
            chosen[name] = bool(rng.random() < 0.5)
        if numbers and rng.random() < 1 / 3:
            for name in rng.choice(numbers, min(2, len(numbers)), replace=False):
                now = getattr(game.rules(), name)
                low, high = allowed[name].low, allowed[name].high
                near = high if now is None else min(high, 2 * now + 2)
                chosen[name] = int(rng.integers(low, near + 1))
        try:
            made = game.rules(**chosen)
            made.check_players(players)
        except RulesError:
            continue
        return made


@numba.njit
def quiet_rows(quiet, records, found):
    """Mark the rows that a search may judge."""
    for i in range(records.size):
        found[i] = records[i]["over"] == 0 and quiet(records, i)


class Notes:
    """What was noted of games, one after another: inputs (m, D); shares (m, P) of the victory, of the seats counted from the one to act;
    players (m,); and the game that each is of (m,)."""

    def __init__(self) -> None:
        self.inputs: list[np.ndarray] = []
        self.shares: list[np.ndarray] = []
        self.players: list[int] = []
        self.game: list[int] = []
        self.games = 0


def play_and_note(game: Game, name: str, games: int, astray: float, seed: int, notes: Notes) -> None:
    """Play so many games more, on tables of variants drawn by chance, and note what a search may judge."""
    rng = np.random.default_rng(seed)
    own, quiet = own_module(game), kernels(game).quiet
    scratch = own.scratch(game)
    seats, fewest = game.rules.max_players, game.rules.min_players
    players = [fewest + i % (seats - fewest + 1) for i in range(TABLES)]
    rules = [draw_rules(game, n, rng) for n in players]
    tables = tabletop.Tables(game, TABLES, players, rules=rules, seed=seed, autoreset="same_step")
    player = agent_named(game, name)
    every, found = np.arange(TABLES), np.zeros(TABLES, bool)
    waiting: list[list[tuple[np.ndarray, int]]] = [[] for _ in range(TABLES)]
    end = notes.games + games
    while notes.games < end:
        quiet_rows(quiet, tables.records, found)
        for i in np.flatnonzero(found):
            own.describe(tables.records, i, scratch)
            waiting[i].append((scratch.inputs.copy(), int(tables.seat[i])))
        actions = answer(player, tables, every, rng)
        tables.step(np.where(rng.random(TABLES) < astray, random_actions(tables.action_mask, rng), actions))
        for i in np.flatnonzero(tables.terminated | tables.truncated):
            share = (tables.rewards[i, : players[i]].astype(np.float64) * (players[i] - 1) + 1) / players[i]
            for known, seat in waiting[i]:
                notes.inputs.append(known)
                notes.shares.append(np.concatenate([np.roll(share, -seat), np.zeros(seats - players[i])]))
                notes.players.append(players[i])
                notes.game.append(notes.games)
            waiting[i] = []
            notes.games += 1


def masked_log_loss(odds: Any, shares: Any, players: Any) -> Any:
    """Mean of the negative log likelihood of the shares, seats that do not play left out."""
    import torch

    seat = torch.arange(shares.shape[1])
    log_chance = torch.log_softmax(odds.masked_fill(seat[None] >= players[:, None], -1e9), 1)
    return -(shares * log_chance).sum(1).mean()


def fit(inputs: np.ndarray, scale: np.ndarray, shares: np.ndarray, players: np.ndarray, aside: np.ndarray, epochs: int, seed: int) -> Any:
    """The network fitted, as torch has it, and its log loss in nats on the positions kept aside."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    x, y, n = torch.from_numpy(inputs), torch.from_numpy(shares), torch.from_numpy(players)
    by = torch.from_numpy(scale)
    network = nn.Sequential(
        nn.Linear(inputs.shape[1], HIDDEN[0]), nn.ReLU(), nn.Linear(HIDDEN[0], HIDDEN[1]), nn.ReLU(), nn.Linear(HIDDEN[1], shares.shape[1])
    )
    learned_from, kept = torch.from_numpy(np.flatnonzero(~aside)), torch.from_numpy(np.flatnonzero(aside))
    steps = epochs * (len(learned_from) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps)
    loss_aside = float("nan")
    for epoch in range(epochs):
        order = learned_from[torch.randperm(len(learned_from))]
        for start in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH]
            loss = masked_log_loss(network(x[rows].float() * by), y[rows], n[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            parts = [masked_log_loss(network(x[rows].float() * by), y[rows], n[rows]) * len(rows) for rows in kept.split(65536)]
        loss_aside = float(sum(parts)) / len(kept)
        print(f"epoch {epoch + 1} of {epochs}: {loss_aside:.4f} nats on the games kept aside", flush=True)
    return network, loss_aside


def write_weights(network: Any, scale: np.ndarray, path: Path) -> None:
    """Write the weights; what divides the inputs goes into the first layer."""
    layers = [network[k] for k in (0, 2, 4)]
    found = [array for layer in layers for array in (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy())]
    found[0] = found[0] * scale[:, None]
    with replaced(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **{name: array.astype(np.float32) for name, array in zip(NAMES, found, strict=True)})


def main(
    game: str,
    /,
    agent: str = "heuristic",
    games: int = 60_000,
    astray: float = 0.08,
    epochs: int = 5,
    seed: int = 1,
    out: Path | None = None,
) -> None:
    """Fit the value network of a game's search.

    Args:
        game: beyond or away.
        agent: Who plays.
        games: How many games.
        astray: Share of random actions.
        epochs: How often the fit goes through all positions.
        seed: Of everything.
        out: Where the weights go (default: where the search finds them).
    """
    found = tabletop.game(game)
    noted = Notes()
    while noted.games < games:
        play_and_note(found, agent, min(20 * TABLES, games - noted.games), astray, seed * 1_000_003 + noted.games, noted)
        print(f"{noted.games:,} games, {len(noted.inputs):,} positions", flush=True)
    inputs, shares = np.array(noted.inputs), np.array(noted.shares, np.float32)
    players, aside = np.array(noted.players, np.int8), np.array(noted.game) >= (1 - KEPT_ASIDE) * noted.games
    scale = np.asarray(own_module(found).INPUT_SCALE, np.float32)
    network, _ = fit(inputs, scale, shares, players, aside, epochs, seed)
    write_weights(network, scale, out or file_of(game))


if __name__ == "__main__":
    tyro.cli(main)
