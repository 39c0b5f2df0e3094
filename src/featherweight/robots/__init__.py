"""Built-in robots, parameters as keywords."""

from featherweight.robots.humanoid import humanoid
from featherweight.robots.mini_cheetah import mini_cheetah
from featherweight.robots.textbook import cartpole, chain, double_pendulum, pendulum

__all__ = ["cartpole", "chain", "double_pendulum", "humanoid", "mini_cheetah", "pendulum"]
