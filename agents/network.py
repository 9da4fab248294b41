"""The network of learned policies: convolutions for planes, layers for the rest, one head for actions and one for the value.

A game may have a lookahead (agents.<game>_lookahead): numbers that say what each legal action leads to. They follow the entries of the
observation, and a head of their own scores every action by what it leads to.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch import nn

from tabletop.registry import Game


class Trunk(nn.Module):
    """Observation (n, D), scaled, -> features (n, hidden[-1])."""

    scale: torch.Tensor
    flat: torch.Tensor

    def __init__(self, game: Game, network: dict[str, Any]) -> None:
        super().__init__()
        layout = game.layout
        self.register_buffer("scale", torch.from_numpy(layout.scale.copy()), persistent=False)
        planes = [p for p in layout.parts.values() if len(p.shape) == 3]
        flat = np.concatenate([np.arange(p.start, p.start + p.size) for p in layout.parts.values() if len(p.shape) != 3])
        self.register_buffer("flat", torch.from_numpy(flat), persistent=False)
        self.planes = [(p.slice, p.shape) for p in planes]
        width = len(flat)
        if planes:
            rows, columns = planes[0].shape[1:]
            channels = sum(p.shape[0] for p in planes)
            layers: list[nn.Module] = []
            for size in network["channels"]:
                layers += [nn.Conv2d(channels, size, 3, padding=1), nn.ReLU()]
                channels = size
            self.convolutions: nn.Module = nn.Sequential(*layers, nn.Flatten())
            width += channels * rows * columns
        sizes = [width, *network["hidden"]]
        self.layers = nn.Sequential(*(m for a, b in itertools.pairwise(sizes) for m in (nn.Linear(a, b), nn.ReLU())))
        self.features_dim = sizes[-1]

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        scaled = observation.to(torch.float32) * self.scale
        if not self.planes:
            return self.layers(scaled)
        seen = self.convolutions(torch.cat([scaled[:, part].reshape(-1, *shape) for part, shape in self.planes], dim=1))
        return self.layers(torch.cat([scaled[:, self.flat], seen], dim=1))


class LookaheadHead(nn.Module):
    """Scores of actions by what they lead to: trunk features (n, H) and the lookahead (n, A + 1, F) -> scores (n, A), 0 for what is
    not legal, and what the position and its best action look like, for the value: (n, state).

    Before anything is learned the scores are the lookahead's `prior`: the network begins as a player that takes the best gain.
    """

    scale: torch.Tensor
    width, state = 64, 128

    def __init__(self, lookahead: Any, num_actions: int, features_dim: int) -> None:
        super().__init__()
        names = list(lookahead.features)
        self.legal, self.behind = names.index("legal"), names.index("behind")
        self.register_buffer("scale", 1.0 / torch.tensor([float(v) for v in lookahead.features.values()]), persistent=False)
        self.context = nn.Linear(features_dim + 2 * len(names), self.state)
        self.own = nn.Linear(len(names), self.width)
        self.kind = nn.Embedding(num_actions, self.width)
        self.of_state = nn.Linear(self.state, self.width, bias=False)
        self.hidden = nn.Linear(self.width, self.width)
        self.score = nn.Linear(self.width, 1)
        self.prior = nn.Linear(len(names), 1, bias=False)
        self.start = [lookahead.prior.get(name, 0.0) * size for name, size in lookahead.features.items()]

    def initialize(self) -> None:
        nn.init.normal_(self.kind.weight, 0.0, 0.1)
        nn.init.zeros_(self.score.weight)
        with torch.no_grad():
            self.prior.weight.copy_(torch.tensor([self.start]))

    def forward(self, features: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        n, actions = seen.shape[0], seen.shape[1] - 1
        legal = seen[:, :actions, self.legal] != 0
        behind = seen[:, :actions, self.behind].to(torch.int16).masked_fill(~legal, -1000)
        best = seen[torch.arange(n), behind.argmax(dim=1)].to(torch.float32) * self.scale
        position = seen[:, actions].to(torch.float32) * self.scale
        state = torch.relu(self.context(torch.cat([features, position, best], dim=1)))
        row, action = legal.nonzero(as_tuple=True)
        told = seen[row, action].to(torch.float32) * self.scale
        hidden = torch.relu(self.own(told) + self.kind(action) + self.of_state(state)[row])
        score = self.score(torch.relu(self.hidden(hidden))) + self.prior(told)
        scores = torch.zeros(n, actions).index_put((row, action), score.squeeze(1))
        return scores, state


class PolicyNetwork(nn.Module):
    """Trunk and two heads: observation (n, D) -> logits (n, A), values (n,). With a lookahead the observation is followed by what
    it tells: (n, D + (A + 1) F)."""

    def __init__(self, game: Game, network: dict[str, Any], lookahead: Any = None) -> None:
        super().__init__()
        self.lookahead = lookahead
        self.trunk = Trunk(game, network)
        self.width = game.layout.size
        self.action_net = nn.Linear(self.trunk.features_dim, game.num_actions)
        if lookahead:
            self.ahead = LookaheadHead(lookahead, game.num_actions, self.trunk.features_dim)
        self.value_net = nn.Linear(self.ahead.state if lookahead else self.trunk.features_dim, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                nn.init.orthogonal_(module.weight, 2**0.5)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        nn.init.orthogonal_(self.action_net.weight, 0.01)
        nn.init.orthogonal_(self.value_net.weight, 0.1)
        if lookahead:
            self.ahead.initialize()

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self.lookahead is None:
            features = self.trunk(observation)
            return self.action_net(features), self.value_net(features).squeeze(-1)
        features = self.trunk(observation[:, : self.width])
        logits = self.action_net(features)
        scores, state = self.ahead(features, observation[:, self.width :].reshape(len(observation), logits.shape[1] + 1, -1))
        return logits + scores, self.value_net(state).squeeze(-1)
