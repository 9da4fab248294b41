"""Players for the tests of the learner's views, and games as those views tell them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

import tabletop
from tabletop.contract import variants
from tabletop.learner import LearnerTables
from tabletop.sampling import random_actions


@cache
def brief(game: str, most: int = 300) -> str:
    """Rules under which random games are not long: the default ones if those take at most that many decisions on average, else
    among the contract's variants those with the shortest games of which most end by the rules."""

    def played(rules: str) -> tuple[float, float]:
        tables = tabletop.Tables(game, 16, 2, rules, seed=0, autoreset="disabled")
        rng, decisions = np.random.default_rng(0), 0
        while (live := np.flatnonzero(tables.seat >= 0)).size:
            tables.step(random_actions(tables.action_mask[live], rng), rows=live)
            decisions += live.size
        return decisions / 16, float(tables.terminated.mean())

    if played("")[0] <= most:
        return ""
    lengths = {rules: length for rules in variants(game) for length, ended in [played(rules)] if ended > 0.5}
    return min(lengths, key=lambda rules: lengths[rules])


class Steady:
    """Plays a legal action that depends on the observation alone (and on `salt`): the same one in every batch."""

    def __init__(self, salt: int) -> None:
        self.name = f"steady {salt}"
        self.salt = salt

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: Any) -> np.ndarray:
        weights = np.arange(self.salt + 1, self.salt + 1 + observation.shape[1])
        counts = action_mask.sum(1)
        place = (observation.astype(np.int64) @ (weights * weights % 1009)) % np.maximum(counts, 1)
        return (np.cumsum(action_mask, 1) == place[:, None] + 1).argmax(1)


LEARNER = Steady(11)
OPPONENTS = (Steady(0), Steady(5), Steady(7))


@dataclass
class Episode:
    """One game as the learner met it."""

    seat: int
    opponents: dict[int, str]
    observations: list[bytes] = field(default_factory=list)
    masks: list[bytes] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    final: bytes = b""
    ended: tuple[bool, bool] = (False, False)


def names(agents: dict[int, Any]) -> dict[int, str]:
    return {seat: agent.name for seat, agent in agents.items()}


def flat(episodes: list[list[Episode]]) -> list[Episode]:
    return list(chain.from_iterable(episodes))


def begun(learner: LearnerTables, row: int) -> Episode:
    return Episode(int(learner.seat[row]), names(learner.opponents_of(row)))


def play(learner: LearnerTables, steps: int, policy: Any = LEARNER) -> list[list[Episode]]:
    """The finished games of every table in so many steps, in any auto-reset mode."""
    finished: list[list[Episode]] = [[] for _ in range(learner.num_tables)]
    running = [begun(learner, row) for row in range(learner.num_tables)]
    for _ in range(steps):
        if learner.autoreset == "disabled" and learner.over.any():
            rows = np.flatnonzero(learner.over)
            learner.reset(rows=rows)
            for row in rows:
                running[row] = begun(learner, row)
        actions = policy.act(learner.observation, learner.action_mask, None)
        was_over = learner.over.copy()
        for row, episode in enumerate(running):
            if not was_over[row]:
                episode.observations.append(learner.observation[row].tobytes())
                episode.masks.append(learner.action_mask[row].tobytes())
                episode.actions.append(int(actions[row]))
        learner.step(actions)
        for row, episode in enumerate(running):
            ended = bool(learner.terminated[row]), bool(learner.truncated[row])
            if was_over[row]:
                assert learner.reward[row] == 0 and ended == (False, False)
                running[row] = begun(learner, row)
                continue
            episode.rewards.append(float(learner.reward[row]))
            if any(ended):
                episode.ended, episode.final = ended, learner.final_observation[row].tobytes()
                assert learner.final_seat[row] == episode.seat and names(learner.final_opponents_of(row)) == episode.opponents
                finished[row].append(episode)
                if learner.autoreset == "same_step":
                    running[row] = begun(learner, row)
            else:
                assert episode.seat == learner.seat[row]
    return finished


def by_the_engine(tables: tabletop.Tables, seat: int, players: dict[int, Any]) -> Episode:
    """The game that one table, freshly dealt, plays, as its seat meets it: told by the engine alone."""
    episode = Episode(seat, {other: agent.name for other, agent in players.items() if other != seat})
    earned = 0.0
    while tables.seat[0] >= 0:
        mover = int(tables.seat[0])
        action = players[mover].act(tables.observation, tables.action_mask, None)
        if mover == seat:
            if episode.actions:
                episode.rewards.append(earned)
            earned = 0.0
            episode.observations.append(tables.observation[0].tobytes())
            episode.masks.append(tables.action_mask[0].tobytes())
            episode.actions.append(int(action[0]))
        tables.step(action)
        earned += float(tables.rewards[0, seat])
    episode.rewards.append(earned)
    episode.final = tables.observe([seat])[0].tobytes()
    episode.ended = bool(tables.terminated[0]), bool(tables.truncated[0])
    return episode
