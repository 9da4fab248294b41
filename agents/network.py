"""The network of learned policies: convolutions for planes, layers for the rest, one head for actions and one for the value."""

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


class PolicyNetwork(nn.Module):
    """Trunk and two heads: observation (n, D) -> logits (n, A), values (n,)."""

    def __init__(self, game: Game, network: dict[str, Any]) -> None:
        super().__init__()
        self.trunk = Trunk(game, network)
        self.action_net = nn.Linear(self.trunk.features_dim, game.num_actions)
        self.value_net = nn.Linear(self.trunk.features_dim, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                nn.init.orthogonal_(module.weight, 2**0.5)
                nn.init.constant_(module.bias, 0.0)  # type: ignore[arg-type]
        nn.init.orthogonal_(self.action_net.weight, 0.01)
        nn.init.orthogonal_(self.value_net.weight, 0.1)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.trunk(observation)
        return self.action_net(features), self.value_net(features).squeeze(-1)
