"""Training for another card table than the installed one: heuristic and lookahead play by it wherever they play."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop
from agents.policy import PolicyAgent, find_policy
from tabletop.errors import CheckpointError, RulesError
from tests.training.helpers import arguments, trainer
from training import cli, evaluate, imitate, run
from training.self_play import Opponents

AWAY = tabletop.game("away")
TABLES = Path(__file__).parents[2] / "examples" / "cards"
SHORT: dict[str, Any] = {"channels": (4,), "hidden": (16,), "decisions": 500, "imitate": 0.2}


def table_of(agent: Any) -> Any:
    """The other card table that a heuristic or a lookahead knows, None if it knows but the installed one."""
    return AWAY.variant_of(agent._root[0]).rules.cards  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rules with a card table of its own."""
    path = tmp_path_factory.mktemp("cards") / "mine.toml"
    shutil.copy(TABLES / "many_one_way.toml", path)
    return f"cards={path},max_rounds=8"


@pytest.fixture(scope="module")
def done(cards: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The folder of a short run for that table and the installed one, and all that played in it."""
    out, played = tmp_path_factory.mktemp("run") / "run", []
    patch = pytest.MonkeyPatch()
    draw, play, begin, tell = Opponents.draw, evaluate.play, imitate.TeacherStream.__init__, run.baselines

    def watched_draw(self: Opponents, rng: np.random.Generator) -> Any:
        played.append(("opponent", draw(self, rng)))
        return played[-1][1]

    def watched_play(game: Any, variant: Any, agents: Any, *given: Any, **named: Any) -> Any:
        played.extend((f"evaluation of {variant.rules.cards is not None}", agent) for agent in agents)
        return play(game, variant, agents, *given, **named)

    def watched_begin(self: Any, game: Any, variants: Any, teacher: Any, *given: Any, **named: Any) -> None:
        played.append(("teacher", teacher))
        begin(self, game, variants, teacher, *given, **named)

    def watched_tell(*given: Any) -> Any:
        played.append(("rival", tell(*given)[-1]))
        return [played[-1][1]]

    patch.setattr(Opponents, "draw", watched_draw)
    patch.setattr(evaluate, "play", watched_play)
    patch.setattr(imitate.TeacherStream, "__init__", watched_begin)
    patch.setattr(run, "baselines", watched_tell)
    given = arguments(**SHORT, rules=(cards, "max_rounds=8"), opponent_heuristic=0.5)
    assert cli.main(["train", "away", "--out", str(out), *given]) == 0
    patch.undo()
    return out, played


def knows(agent: Any) -> bool:
    """It plays by the run's table, as far as it plays by one at all."""
    if isinstance(agent, PolicyAgent):
        agent = agent.network.lookahead
    return not hasattr(agent, "_root") or table_of(agent) is not None


def test_all_who_play_know_the_table(done: tuple[Path, list[Any]]) -> None:
    _, played = done
    for what in ("opponent", "teacher", "rival", "evaluation of True"):
        agents = [agent for told, agent in played if told == what]
        assert agents and all(map(knows, agents)), what
    assert any(agent.name == "heuristic" for what, agent in played if what == "opponent")
    assert any(isinstance(agent, PolicyAgent) for what, agent in played if what == "opponent")


def test_imitation_is_of_the_heuristic_of_the_table(cards: str, tmp_path: Path) -> None:
    run_of = trainer(tmp_path / "run", AWAY, **SHORT, rules=(cards,), lookahead=False)
    assert knows(run_of.heuristic) and knows(run_of.opponents.heuristic)


def test_a_policy_is_loaded_for_the_table_it_plays(done: tuple[Path, list[Any]], cards: str) -> None:
    out, _ = done
    assert table_of(PolicyAgent.load(out).network.lookahead) is not None
    assert table_of(PolicyAgent.load(out, AWAY.variant(cards)).network.lookahead) is not None
    assert table_of(PolicyAgent.load(out, AWAY.variant("max_rounds=8")).network.lookahead) is None


def test_past_selves_that_are_read_again_know_the_table(done: tuple[Path, list[Any]], cards: str) -> None:
    out, _ = done
    resumed = trainer(out, AWAY, **SHORT, rules=(cards, "max_rounds=8"), opponent_heuristic=0.5, resume=True)
    name = next(iter(sorted((out / "past").glob("past-*.safetensors")))).stem
    assert table_of(resumed.opponents.named(name).network.lookahead) is not None  # type: ignore[attr-defined]


def test_a_table_that_is_gone(done: tuple[Path, list[Any]], cards: str, tmp_path: Path) -> None:
    """The policy says so in one line, and plays what is named."""
    policy = Path(shutil.copytree(find_policy(done[0]), tmp_path / "policy"))
    path = Path(cards.removeprefix("cards=").split(",")[0])
    hidden = path.rename(path.with_suffix(".gone"))
    try:
        with pytest.raises(CheckpointError, match=r"mine\.toml cannot be read"):
            PolicyAgent.load(policy)
        assert PolicyAgent.load(policy, AWAY.variant("max_rounds=8")).name == "policy:policy"
    finally:
        hidden.rename(path)


def test_the_same_table_elsewhere(done: tuple[Path, list[Any]], cards: str, tmp_path: Path) -> None:
    """It is the same variant; a table that differs is another one."""
    path = tmp_path / "elsewhere.toml"
    shutil.copy(TABLES / "many_one_way.toml", path)
    moved = AWAY.variant(f"cards={path},max_rounds=8")
    assert table_of(PolicyAgent.load(done[0], moved).network.lookahead) == moved.rules.cards  # type: ignore[attr-defined]
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(CheckpointError, match=r"was trained for .* not for"):
        PolicyAgent.load(done[0], AWAY.variant(f"cards={path},max_rounds=8"))


def test_two_other_tables_in_one_run_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tuple(f"cards={path}" for path in sorted(TABLES.glob("*.toml")))
    assert cli.main(["train", "away", "--out", str(tmp_path / "run"), *arguments(**SHORT, rules=rules)]) == 2
    told = capsys.readouterr().err
    assert "cannot be played by one agent" in told and told.count("\n") == 1
    assert not (tmp_path / "run").exists()
    with pytest.raises(RulesError):
        trainer(tmp_path / "run", AWAY, **SHORT, rules=rules, lookahead=False)
