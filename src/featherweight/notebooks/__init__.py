"""How models and runs show themselves in notebooks: HTML with everything inside, made without compiling anything."""

from featherweight.notebooks.model import model_html
from featherweight.notebooks.player import Player, player
from featherweight.notebooks.trajectory import trajectory_html

__all__ = ["Player", "model_html", "player", "trajectory_html"]
