"""Built-in robots, parameters as keywords."""

from featherweight.robots.textbook import cartpole, chain, double_pendulum, pendulum

__all__ = ["cartpole", "chain", "double_pendulum", "pendulum"]
