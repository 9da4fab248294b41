"""Every game under Gymnasium's and PettingZoo's names. Importing this module, or any game's package, registers all games.

    import beyond_env
    gymnasium.make("beyond_away/Beyond-v0", rules="protection=true")          # the seat that learns, against opponents
    gymnasium.make_vec("beyond_away/Beyond-v0", num_envs=64)                  # the same for a batch
    pettingzoo.make("aec", "beyond_away/Beyond-v0", num_players=3)            # every seat

Gymnasium can do the import itself: `gymnasium.make("beyond_env:beyond_away/Beyond-v0")`.

A game's id is the distribution that brings it, and the name of its entry point: nothing of a game is imported before it is made.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import gymnasium
import pettingzoo

VERSION = 0


def env_id(point: EntryPoint) -> str:
    """The id of the game of an entry point: `beyond_away/Beyond-v0` for the game `beyond` of the distribution beyond-away."""
    namespace = point.dist.name.replace("-", "_") if point.dist is not None else "tabletop"
    return f"{namespace}/{point.name.title().replace('_', '')}-v{VERSION}"


def register_games() -> tuple[str, ...]:
    """Register all games of the group `tabletop.games` that are not yet; the ids of all of them."""
    ids = {}
    for point in entry_points(group="tabletop.games"):
        ids[env_id(point)] = point.name
    for name_of_env, game in ids.items():
        if name_of_env not in gymnasium.registry:
            gymnasium.register(
                name_of_env,
                entry_point="tabletop.single:SingleAgentEnv",
                vector_entry_point="tabletop.vector:LearnerVectorEnv",
                kwargs={"game": game},
            )
        # PettingZoo has its registry from 1.27 on
        if hasattr(pettingzoo, "register") and name_of_env not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name_of_env, entry_point="tabletop.aec:env", kwargs={"game": game})
    return tuple(ids)


register_games()
