"""The contract of the paths: tables alone and in batches, copies, auto-reset and the PettingZoo view all tell the one story."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from tabletop.contract import Case
from tabletop.errors import ActionError, RulesError, StepAfterEnd
from tabletop.plain import Story, as_bytes, field_at, tell
from tabletop.registry import LIVE, TRUNCATED
from tabletop.tables import Tables

TOLD = ("observation", "action_mask", "seat", "rewards", "earned", "terminated", "truncated")


class Follower:
    """Plays the actions of a story on tables, row g of them playing game g, and compares everything that is told."""

    def __init__(self, case: Case, tables: Tables, what: str, story: Story | None = None, rows: Any = None, games: Any = None) -> None:
        self.case, self.tables, self.what = case, tables, what
        self.story = story or case.story
        self.games = np.arange(len(self.story.first)) if games is None else np.asarray(games)
        self.rows = np.arange(self.games.size) if rows is None else np.asarray(rows)
        self.at = np.array(self.story.first)[self.games]
        self.ends = np.array(self.story.last)[self.games]
        self.same()

    def live(self) -> np.ndarray:
        """Which of the followed games are not over."""
        return np.flatnonzero(self.at < self.ends)

    def step(self, chosen: Any = None) -> None:
        """One decision in all games that are not over, or in the chosen ones of them; all are compared."""
        moving = self.live() if chosen is None else np.asarray(chosen)
        self.tables.step(self.story.action[self.at[moving]], rows=self.rows[moving])
        self.at[moving] += 1
        self.same(moving)

    def to_the_end(self, most: int = 10**9) -> Follower:
        """Play on, for at most that many steps."""
        while self.live().size and most > 0:
            self.step()
            most -= 1
        return self

    def same(self, moved: Any = slice(None)) -> None:
        """Fail unless the tables stand where the story does; the rewards are compared where a step was taken."""
        story, at, t, rows = self.story, self.at, self.tables, self.rows
        told = (
            ("position", as_bytes(t.records[rows]), story.bytes[at]),
            ("observation", t.observation[rows], story.observation[at]),
            ("mask", t.action_mask[rows], story.mask[at]),
            ("seat to act", t.seat[rows], story.seat[at]),
            ("flag terminated", t.terminated[rows], story.terminated[at]),
            ("flag truncated", t.truncated[rows], story.truncated[at]),
            ("sum of rewards earned", t.earned[rows], story.rewards[at]),
            ("reward of the step", t.rewards[rows[moved]], story.rewards[at[moved]]),
        )
        for name, is_now, should_be in told:
            if is_now.tobytes() != should_be.tobytes():
                j, entry = map(int, (*np.argwhere(is_now != should_be)[0], 0)[:2])
                place = int(at[moved][j] if name == "reward of the step" else at[j])
                field = f" (`{field_at(self.case.game, entry)}`)" if name == "position" else ""
                self.case.fail(f"{self.what}: the {name}{field} is not that of the game played alone", place, story)


def tables_of(case: Case, number: int, **options: Any) -> Tables:
    chosen = {"num_players": case.variant.players, "rules": case.variant.rules, "seed": case.seed, "autoreset": "disabled", **options}
    return Tables(case.game, number, **chosen)


def check_batch(case: Case) -> None:
    """A table plays the same game alone, in a batch, on threads, stepped in any order, among tables of other variants."""
    n = case.games
    Follower(case, tables_of(case, n), "in a batch").to_the_end()
    Follower(case, tables_of(case, n, threads=2), "on two threads").to_the_end()
    few = list(range(n // 2, n))
    shifted = tables_of(case, len(few), seed=(case.seed, few[0]))
    Follower(case, shifted, "in a smaller batch", games=few).to_the_end()
    ragged = Follower(case, tables_of(case, n), "stepped in rows at random")
    while ragged.live().size:
        live = case.rng.permutation(ragged.live())
        ragged.step(live[: 1 + case.rng.integers(live.size)])
    ask_all = tell(case.game, case.variant, case.seed, range(2), skip_forced=False)
    Follower(case, tables_of(case, 2, skip_forced=False), "with skip_forced=False", ask_all).to_the_end()


def check_mixed(case: Case) -> None:
    """Tables with other numbers of players and other rules in the same batch make no difference."""
    others = []
    for players in range(case.game.rules.min_players, case.game.rules.max_players + 1):
        try:
            case.game.variant(case.variant.rules, players)
        except RulesError:
            continue  # these rules are not for so many
        others.append(players)
    n = min(case.games, 3)
    mixed = [p for k in range(n) for p in (case.variant.players, others[k % len(others)])]
    tables = Tables(case.game, 2 * n, mixed, case.variant.rules, case.seed, autoreset="disabled", deals=[k // 2 for k in range(2 * n)])
    follower = Follower(case, tables, "among other variants", rows=range(0, 2 * n, 2), games=range(n))
    while follower.live().size:
        beside = np.flatnonzero(tables.seat[1::2] >= 0) * 2 + 1
        if beside.size:
            tables.step(tables.action_mask[beside].argmax(axis=1), rows=beside)
        follower.step()


def check_illegal(case: Case) -> None:
    """An action that is illegal, or is none, raises an ActionError and changes nothing at any table; so does a step after the end."""
    tables = tables_of(case, case.games)
    follower = Follower(case, tables, "before an illegal action")
    for _ in range(4):
        live = follower.live()
        if not live.size:
            break
        right = case.story.action[follower.at[live]]
        wrong = right.copy()
        forbidden = np.flatnonzero(tables.action_mask[live[-1]] == 0)
        for action in (*forbidden[:: max(1, forbidden.size // 3)], -1, case.game.num_actions):
            wrong[-1] = action
            _refuses(case, tables, wrong, live, ActionError, f"action {action}, which is not legal,", int(follower.at[live[-1]]))
        follower.step()
    follower.to_the_end()
    everyone = np.arange(case.games)
    _refuses(case, tables, np.zeros(case.games, np.int64), everyone, StepAfterEnd, "a step after the end", case.story.last[-1])


def _refuses(case: Case, tables: Tables, actions: np.ndarray, rows: np.ndarray, error: type[Exception], what: str, place: int) -> None:
    before = [tables.records.tobytes(), *(getattr(tables, name).tobytes() for name in TOLD)]
    try:
        tables.step(actions, rows=rows)
    except error:
        if before != [tables.records.tobytes(), *(getattr(tables, name).tobytes() for name in TOLD)]:
            case.fail(f"{what} changes something though it is refused", place)
        return
    case.fail(f"{what} is taken", place)


def check_copies(case: Case) -> None:
    """Copies by deepcopy, by pickle and by bytes, at any moment, go on exactly as the tables do, and leave these as they are."""
    n = min(case.games, 3)
    middle = max(case.story.last[g] - case.story.first[g] for g in range(n)) // 2
    for steps in (0, middle, case.story.records.size):
        follower = Follower(case, tables_of(case, n, threads=1 + steps % 2), "before a copy", games=range(n))
        follower.to_the_end(most=steps)
        kept = [follower.tables.records.tobytes(), *(getattr(follower.tables, name).tobytes() for name in TOLD)]
        restored = tables_of(case, n, seed=case.seed + 1)
        restored.restore(follower.tables.records.copy())
        over = follower.tables.seat < 0  # a position taken from bytes pays nobody again: neither now nor later
        if (restored.rewards != 0).any() or (restored.earned != 0).any():
            case.fail("a restored position pays rewards")
        restored.earned[over] = follower.tables.earned[over]
        restored.observation[over] = follower.tables.observation[over]  # of the last mover, which a record does not name
        copies = {"deepcopy": copy.deepcopy(follower.tables), "pickle": pickle.loads(pickle.dumps(follower.tables)), "bytes": restored}
        for name, made in copies.items():
            twin = copy.copy(follower)
            twin.tables, twin.at, twin.what = made, follower.at.copy(), f"continued from a copy by {name}"
            twin.same(slice(0, 0))
            twin.to_the_end(most=40)
        if kept != [follower.tables.records.tobytes(), *(getattr(follower.tables, name).tobytes() for name in TOLD)]:
            case.fail("playing on a copy changes the tables it was made of")
        follower.to_the_end(most=40)


def check_seeds(case: Case) -> None:
    """A seed gives the same games whatever was played before and is done to numpy's generator; search beside them changes nothing."""
    n = min(case.games, 2)
    numpys = np.random.get_state()  # noqa: NPY002  the global generator is what is tested
    tables = tables_of(case, n, seed=case.seed + 17)
    if as_bytes(tables.records).tobytes() == case.story.bytes[case.story.first[:n]].tobytes():
        case.fail("another seed deals the same games")
    for _ in range(5):
        live = np.flatnonzero(tables.seat >= 0)
        if live.size:
            tables.step(tables.action_mask[live].argmax(axis=1), rows=live)
    tables.reset(case.seed)
    follower = Follower(case, tables, "after a reset with the seed", games=range(n))
    while (live := follower.live()).size:
        guesses = tables.determinize(tables.records[live], tables.seat[live], seed=3)
        case.game.loops.determinize_rows(guesses, np.arange(live.size), np.zeros(live.size, np.int64), np.uint64(4))
        follower.step()
    state = np.random.get_state()  # noqa: NPY002
    if state[2] != numpys[2] or (state[1] != numpys[1]).any():  # type: ignore[index,operator]
        case.fail("numpy's global generator is drawn from")


def check_autoreset(case: Case) -> None:
    """Each mode gives the games of the engine without auto-reset, one after the other; ends are told once."""
    n = min(case.games, 3)
    second = tell(case.game, case.variant, case.seed, range(n), number=1)
    tables = tables_of(case, n)
    while (live := np.flatnonzero(tables.seat >= 0)).size:  # the next game does not depend on how this one is played
        tables.step(tables.action_mask[live].argmax(axis=1), rows=live)
    tables.reset()
    if (tables.rewards != 0).any() or (tables.earned != 0).any():
        case.fail("after a reset rewards of the game before are left")
    Follower(case, tables, "the next game after a reset", second, games=range(n)).to_the_end()
    for mode in ("next_step", "same_step"):
        _autoreset(case, second, n, mode)


def _autoreset(case: Case, second: Story, n: int, mode: str) -> None:
    tables = tables_of(case, n, autoreset=mode)
    stories = [case.story] * n
    at = np.array(case.story.first[:n])
    for _ in range(2 * case.story.records.size + 2 * second.records.size):
        if all(s is second and a == second.last[g] for g, (s, a) in enumerate(zip(stories, at, strict=True))):
            return
        actions = np.array([max(0, s.action[a]) for s, a in zip(stories, at, strict=True)])
        done = np.array([s is second and a == second.last[g] for g, (s, a) in enumerate(zip(stories, at, strict=True))])
        rows = np.flatnonzero(~done)
        tables.step(actions[rows], rows=rows)
        for g in rows:
            _follow(case, tables, mode, stories, second, at, int(g))
    case.fail(f"auto-reset {mode}: the games do not end")


def _follow(case: Case, tables: Tables, mode: str, stories: list[Story], second: Story, at: np.ndarray, g: int) -> None:
    """Move game g on in its story, and compare what row g tells."""
    was_over = stories[g].over[at[g]] != LIVE
    if was_over:  # next_step: this step dealt anew
        stories[g], at[g] = second, second.first[g]
    else:
        at[g] += 1
    story, place = stories[g], int(at[g])
    over = story.over[place]
    for name in ("rewards", "terminated", "truncated"):
        if getattr(tables, name)[g].tobytes() != getattr(story, name)[place].tobytes():
            case.fail(f"auto-reset {mode}: {name} of the step is not that of the game without auto-reset", place, story)
    if mode == "same_step" and over != LIVE:
        final = (tables.final_records[g].tobytes(), tables.final_observation[g].tobytes())
        if final != (story.records[place].tobytes(), story.observation[place].tobytes()):
            case.fail("auto-reset same_step: the final position or observation is not that of the end", place, story)
        if story is second:
            return
        story, place = second, second.first[g]
        stories[g], at[g] = story, place
    shown = (tables.records[g], tables.observation[g], tables.action_mask[g], tables.seat[g])
    wanted = (story.records[place], story.observation[place], story.mask[place], story.seat[place])
    names = ("position", "observation", "mask", "seat to act")
    for name, is_now, should_be in zip(names, shown, wanted, strict=True):
        if is_now.tobytes() != should_be.tobytes():
            case.fail(f"auto-reset {mode}: the {name} is not that of the game without auto-reset", place, story)


def check_cut_off(case: Case) -> None:
    """max_decisions cuts a game off at that very decision, and pays nobody."""
    longest = int(np.argmax([case.story.records["decisions"][last] for last in case.story.last]))
    place = (case.story.first[longest] + case.story.last[longest]) // 2
    limit = max(1, int(case.story.records["decisions"][place]))
    cut = tell(case.game, case.variant, case.seed, [longest], limit=limit)
    Follower(case, tables_of(case, 1, seed=(case.seed, longest), max_decisions=limit), f"with max_decisions={limit}", cut).to_the_end()
    if limit < case.story.records["decisions"][case.story.last[longest]] and (cut.over[-1] != TRUNCATED or cut.rewards[-1].any()):
        case.fail(f"with max_decisions={limit} the game is not cut off, or pays somebody")


def check_aec(case: Case) -> None:
    """The PettingZoo view tells the same, off turn and after the end too; every agent gets its reward once; copies go on alike."""
    from tabletop.aec import RawEnv, wrap

    for g in range(min(case.games, 3)):
        raw = RawEnv(case.game, case.variant.players, case.variant.rules)
        env: Any = wrap(raw) if g == 1 else raw
        env.reset(seed=(case.seed, g))
        got = dict.fromkeys(raw.possible_agents, 0.0)
        place, last = case.story.first[g], case.story.last[g]
        copied = case.rng.integers(place, last + 1)
        while env.agents:
            agent = env.agent_selection
            observation, reward, terminated, truncated, _ = env.last()
            got[agent] += reward
            if place == copied:
                env, raw = _other(case, env, raw, int(g), place)
            if terminated or truncated:
                _see_all(case, raw, place)
                env.step(None)
                continue
            if raw.possible_agents.index(agent) != case.story.seat[place]:
                case.fail(f"PettingZoo: {agent} is to act", place)
            told = (observation["observation"], observation["action_mask"], as_bytes(raw.tables.records)[0])
            wanted = (case.story.observation[place], case.story.mask[place], case.story.bytes[place])
            if not all(np.array_equal(a, b) for a, b in zip(told, wanted, strict=True)):
                case.fail("PettingZoo: the observation, mask or position is not that of the game played alone", place)
            if place % 16 == 0:
                _see_all(case, raw, place)
            env.step(int(case.story.action[place]))
            place += 1
        if place != last or not np.allclose(list(got.values()), case.story.rewards[last][: len(got)]):
            case.fail(f"PettingZoo: the agents got {got}, the game returns {case.story.rewards[last].tolist()}", last)


def _see_all(case: Case, raw: Any, place: int) -> None:
    """Every agent that is left has an observation; off turn and at the end no action is legal."""
    for agent in raw.possible_agents:
        seen = raw.observe(agent)
        seat = raw.possible_agents.index(agent)
        known = raw.tables.observe([seat])[0]
        on_turn = seat == case.story.seat[place]
        if not np.array_equal(seen["observation"], known) or seen["action_mask"].any() != on_turn:
            case.fail(f"PettingZoo: {agent} has another observation than the batch, or a wrong mask", place)


def _other(case: Case, env: Any, raw: Any, g: int, place: int) -> tuple[Any, Any]:
    """A copy of the environment, which is to go on exactly as it would: by deepcopy, by pickle or by bytes."""
    if g == 0:
        made = copy.deepcopy(env)
    elif g == 1:
        made = pickle.loads(pickle.dumps(env))
    elif place == case.story.last[g]:
        return env, raw  # bytes of a game that is over do not say who is still to be told
    else:
        made = type(raw)(case.game, case.variant.players, case.variant.rules)
        made.reset(options={"record": raw.state_bytes()})
    return made, made.unwrapped


PATHS = (check_batch, check_mixed, check_illegal, check_copies, check_seeds, check_autoreset, check_cut_off, check_aec)
