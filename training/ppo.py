"""Self-play training with sb3-contrib's MaskablePPO, from a warm start to a checkpoint that can be played and resumed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from agents.named import heuristic
from agents.policy import PolicyAgent, make_card, make_network, network_spec
from tabletop.errors import TabletopError
from tabletop.registry import Game
from training import checkpoint
from training.config import TrainConfig, run_folder
from training.evaluate import Result, evaluate
from training.files import Lock, lock_run, make_folder, remove_parts, write_json
from training.imitate import foresee, imitate
from training.lookahead import LookaheadVecEnv
from training.self_play import Opponents
from training.shaping import TrainingVecEnv, potential

Report = Callable[[str, float, str], None]  # phase, share of the run done, what to say


class KitPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy on our network, which reads the observations as they are."""

    def __init__(self, observation_space: Any, action_space: Any, lr_schedule: Any, kit_network: Any, **_: Any) -> None:
        self.kit_network = [kit_network]  # in a list: registered as a submodule once, below
        super().__init__(
            observation_space, action_space, lr_schedule, net_arch=[], ortho_init=False,
            features_extractor_class=TrunkExtractor, features_extractor_kwargs={"trunk": kit_network.trunk},
        )  # fmt: skip

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = self.kit_network[0].action_net
        self.value_net = self.kit_network[0].value_net
        optimizer: Any = self.optimizer_class
        self.optimizer = optimizer(self.kit_network[0].parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None) -> Any:
        distribution, values = self._answer(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None) -> Any:
        distribution, values = self._answer(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: Any = None) -> Any:
        return self._answer(obs, action_masks)[0]

    def predict_values(self, obs: Any) -> torch.Tensor:
        return self._answer(obs, None)[1]

    def _answer(self, obs: torch.Tensor, action_masks: Any) -> tuple[Any, torch.Tensor]:
        logits, values = self.kit_network[0](obs)
        refuse_diverged(logits)
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution, values.unsqueeze(-1)


MOST_LOGIT = 1e7  # beyond it the masks of sb3-contrib, which are numbers too, no longer hold


class Diverged(TabletopError, RuntimeError):
    """Updates have made the network useless."""


def refuse_diverged(logits: torch.Tensor) -> None:
    """Diverged if the network's answers are no numbers, or far too large ones."""
    if not bool((logits.detach().abs() < MOST_LOGIT).all()):
        raise Diverged("training has diverged: the network's answers are no numbers any more; begin anew with a lower --learning-rate")


class TrunkExtractor(BaseFeaturesExtractor):
    """The network's trunk, which scales the observation itself."""

    def __init__(self, observation_space: Any, trunk: Any) -> None:
        super().__init__(observation_space, trunk.features_dim)
        self.trunk = trunk

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.trunk(observation)


class Interrupted(Exception):
    """The user asked to stop."""


class Trainer:
    """One run in one folder: `Trainer(game, config).run()`. opponents: who is played instead of `Opponents`, which it then stands for.
    lock: the folder's, if it is locked already; from here to the end of `run` no other process can train there.

    The folder gets checkpoints/ (the newest and the one before, `latest.json` naming the newest), past/ (frozen past selves),
    tensorboard/, run.json (the settings) and metrics.json (every evaluation).
    """

    def __init__(
        self, game: Game, config: TrainConfig, report: Report | None = None, opponents: Any = None, lock: Lock | None = None
    ) -> None:
        self.game, self.config = game, config.with_preset(game)
        c = self.config
        self.report: Report = report or (lambda phase, share, text: None)
        self.variants = [game.variant(rules, players) for rules in c.rules for players in c.players]
        if twice := [str(v) for at, v in enumerate(self.variants) if v in self.variants[:at]]:
            raise ValueError(f"players and rules name {twice[0]} twice")
        self.heuristic = heuristic(game, self.variants)
        if c.shaping:
            potential(game, np.zeros((1, game.layout.size), game.layout.dtype))  # refused before anything is begun
        self.folder = make_folder(c.out or run_folder(game, c))
        self.network_spec = network_spec(game, c.hidden, c.channels, c.lookahead)
        self.threads = c.threads or min(torch.get_num_threads(), 2)
        torch.set_num_threads(self.threads)
        torch.manual_seed(c.seed)
        self.network = make_network(game, self.network_spec, self.variants)
        self.lookahead = self.network.lookahead
        if self.lookahead:
            self.lookahead.threads = self.threads
        self.decisions = 0  # of the learner, imitated ones counted
        self.imitated = 0
        self.games = 0
        _ = game.loops  # compiled before the clock starts
        self.before = 0.0  # seconds of the run in earlier processes
        self.start = time.perf_counter()
        self.warm = 0.0  # seconds of the warm start, evaluations not counted
        self.updates = 0  # of PPO
        self.metrics: list[dict[str, Any]] = []
        self.phase = "imitate" if self._imitation_share() > 0 else "play"
        self.stop_asked = False
        self.last_checkpoint = time.perf_counter()
        self.opponents = opponents or Opponents(
            game, self.network_spec, self.folder / "past", c.opponent_heuristic or 0.0, c.opponent_random, c.past_selves, c.seed,
            self.variants,
        )  # fmt: skip
        self.env: TrainingVecEnv | None = None
        self.model: MaskablePPO | None = None
        self.state: checkpoint.State | None = None
        self.lock = lock or lock_run(self.folder)
        self._open_folder()

    def _open_folder(self) -> None:
        """Go on with the run in the folder, or begin one there."""
        (self.folder / "past").mkdir(exist_ok=True)
        for folder in (self.folder, self.folder / "past", self.folder / "checkpoints"):
            remove_parts(folder)
        if self.config.resume:
            self.state = checkpoint.load(self.folder)
            checkpoint.restore(self, self.state)
        elif (self.folder / "latest.json").exists():
            raise FileExistsError(f"{self.folder} holds a run already: go on with it by --resume, or name another folder by --out")
        told = {"game": self.game.name, "variants": [str(v) for v in self.variants], "settings": self.config.json()}
        write_json(self.folder / "run.json", told)

    # -- the course of a run -------------------------------------------------------------------------------------------

    def run(self) -> list[Result]:
        """Train to the end of the budget (or until Ctrl-C, which ends it early but in good order) and evaluate."""
        with closing(self.lock):
            return self._run()

    def _run(self) -> list[Result]:
        before = {s: signal.signal(s, self._ask_to_stop) for s in (signal.SIGINT, signal.SIGTERM)} if _in_main_thread() else {}
        try:
            if not self.metrics and not self.finished():
                self._evaluate(self.config.evaluate_games, "untrained")
            if self.phase == "imitate":
                self._imitate()
            if not self.finished():
                self._play()
            if self.model is not None or not self.resumed_in_play:  # else nothing was done, and the checkpoint has more than is here
                self.save()
            if self.stop_asked:
                raise Interrupted
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        try:
            return self._evaluate(self.config.final_games, "final")
        except KeyboardInterrupt:
            raise Interrupted from None

    @property
    def resumed_in_play(self) -> bool:
        return self.state is not None and self.state.told["play"] is not None

    def elapsed(self) -> float:
        return self.before + time.perf_counter() - self.start

    def share(self) -> float:
        """Share of the run that is done."""
        return self._share(self.decisions, self.elapsed() / 60)

    def _share(self, decisions: int, minutes: float) -> float:
        c = self.config
        if c.decisions is not None:
            return decisions / c.decisions
        assert c.minutes is not None
        return minutes / c.minutes

    def evaluated(self) -> float:
        """Share of the run (which a resume may have made longer) at the end of the last evaluation: between two of them there is training,
        however long they take."""
        if not self.metrics:
            return 0.0
        last = self.metrics[-1]
        return self._share(last["decisions"], last["minutes"] + last.get("took", 0.0))

    def finished(self) -> bool:
        """A run by the clock is not over before its first update, though evaluations on a busy machine may have taken all the time."""
        if self.stop_asked:
            return True
        enough = self.config.decisions is not None or self.updates > 0 or self._imitation_share() == 1
        return enough and self.share() >= 1

    def agent(self, greedy: bool = True) -> PolicyAgent:
        return PolicyAgent(self.game, self.network, "learner", greedy)

    def _imitation_share(self) -> float:
        return (self.config.imitate or 0.0) if self.heuristic else 0.0

    def _imitate(self) -> None:
        """The warm start: for its share of the run, learn what the heuristic does or, where the network is a player from the start by
        its lookahead, how its games end."""
        teacher, until, begun = self.heuristic, self._imitation_share(), self.decisions
        assert teacher is not None

        before, start = self.warm, time.perf_counter()

        def finished(done: int) -> float:
            self.decisions = begun + done
            self.imitated = self.decisions
            self.warm = before + time.perf_counter() - start
            self._checkpoint_when_due()
            told = "learning how games end" if self.lookahead else "imitating the heuristic"
            self.report(told, self.share(), f"{self.decisions:,} decisions")
            if self.stop_asked:
                return 1.0
            share = self._share(self.decisions, self.warm / 60) / until
            return share if self.imitated else min(share, 0.99)  # no game has ended yet: nothing is learned

        tables, steps = min(self.config.tables, 256), 160
        if self.config.decisions is not None:  # several rounds, so that it ends about where it should
            steps = min(max(int(until * self.config.decisions) // (4 * tables), 16), steps)
        if self.lookahead:  # the network is a player already
            foresee(self.game, self.variants, self.network, finished, self.config.seed + begun, num_tables=tables, steps=min(steps, 64))
        else:
            imitate(self.game, self.variants, self.network, teacher, finished, self.config.seed + begun, num_tables=tables, steps=steps)
        if not self.stop_asked:
            self.phase = "play"
            self._evaluate(self.config.evaluate_games, "after the warm start")

    def _play(self) -> None:
        """Self-play with PPO until the run is finished."""
        c = self.config
        of = [self.variants[i % len(self.variants)] for i in range(c.tables)]
        self.env = TrainingVecEnv(
            self.game, c.tables, [v.players for v in of], [v.rules for v in of], seed=c.seed, opponents=self.opponents,
            weight=c.shaping, gamma=c.gamma,
        )  # fmt: skip
        seen = LookaheadVecEnv(self.env, self.lookahead) if self.lookahead else self.env
        self.model = MaskablePPO(
            KitPolicy, seen, policy_kwargs={"kit_network": self.network}, device="cpu", seed=c.seed, n_steps=c.steps,
            batch_size=min(c.batch, c.tables * c.steps), n_epochs=c.epochs, gamma=c.gamma, gae_lambda=c.gae_lambda, clip_range=c.clip,
            ent_coef=c.entropy or 0.0, target_kl=c.target_kl or None, learning_rate=self._learning_rate,
        )  # fmt: skip
        self.model.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        if self.resumed_in_play:
            assert self.state is not None
            checkpoint.restore_play(self, self.state)
        else:
            self.opponents.add(self.network, self.decisions)
        self.model.learn(10**15, Course(self), reset_num_timesteps=False)

    def _learning_rate(self, _: float) -> float:
        assert self.config.learning_rate is not None
        return self.config.learning_rate * max(1.0 - self.share(), 0.05)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        if self.stop_asked:
            raise KeyboardInterrupt
        self.stop_asked = True

    # -- what is done on the way ---------------------------------------------------------------------------------------

    def measure(self, games: int, label: str) -> list[Result]:
        """How strong the learner is, at the point of the run that `label` names."""
        return evaluate(self.game, self.agent(), self.variants, games)

    def _evaluate(self, games: int, label: str) -> list[Result]:
        begun = self.elapsed()
        told = {"decisions": self.decisions, "share": self.share(), "minutes": begun / 60, "label": label, "phase": self.phase}
        results = self.measure(games, label)
        self.metrics.append({**told, "took": (self.elapsed() - begun) / 60, "results": [r.row() for r in results]})
        write_json(self.folder / "metrics.json", self.metrics)
        if self.model is not None:
            for r in results:
                self.model.logger.record(f"evaluation/{r.variant} against {r.opponent}", r.share.mean)
        text = ", ".join(f"{r.share.mean:.0%} against {r.opponent}" for r in results[-2:])
        self.report(f"evaluated: {text}", self.share(), f"{self.decisions:,} decisions")
        return results

    def _checkpoint_when_due(self) -> None:
        if time.perf_counter() - self.last_checkpoint > 60 * self.config.checkpoint_minutes:
            self.save()

    def save(self) -> Path:
        """Write a checkpoint."""
        card = make_card(
            self.game, self.variants, self.network_spec, seed=self.config.seed, decisions=self.decisions, imitated=self.imitated,
            minutes=round(self.elapsed() / 60, 3), settings=self.config.json(),
        )  # fmt: skip
        path = checkpoint.save(self.folder, self, card)
        self.last_checkpoint = time.perf_counter()
        return path


class Course(BaseCallback):
    """What happens between the updates of PPO: past selves, evaluations, checkpoints, the end."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self.trainer = trainer
        self.resumed = trainer.resumed_in_play
        self.epochs = trainer.model._n_updates if trainer.model else 0  # of PPO, in all updates so far

    def _on_rollout_start(self) -> None:
        """After an update and before the next rollout: the point that checkpoints are taken at and resumed from."""
        t = self.trainer
        assert t.model is not None
        if self.resumed:  # what follows was done before the checkpoint was written
            self.resumed = False
            return
        with torch.inference_mode():  # before anything is made of the network
            refuse_diverged(t.network(torch.from_numpy(np.ascontiguousarray(t.model._last_obs)))[0])
        t.decisions = t.imitated + self.num_timesteps
        if t.model._n_updates > self.epochs:  # epochs, of which an update has fewer where it stops at target_kl
            t.updates += 1
            self.epochs = t.model._n_updates
        if t.updates and t.updates % t.config.snapshot_every == 0:
            t.opponents.add(t.network, t.decisions)
        if t.updates and t.share() - t.evaluated() >= t.config.evaluate_every and not t.finished():
            t._evaluate(t.config.evaluate_games, "on the way")
        t._checkpoint_when_due()
        t.report("self-play", t.share(), f"{t.decisions:,} decisions, {t.games:,} games")

    def _on_step(self) -> bool:
        t = self.trainer
        t.games += int(np.count_nonzero(self.locals["dones"]))
        if t.finished():
            assert t.model is not None
            t.model._last_episode_starts = self.locals["dones"]  # the step is taken, though nothing is learned from it
            return False
        return True


def _in_main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()

