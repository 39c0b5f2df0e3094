"""Campaigns: randomised simulations by the million, in chunks, on this machine or a cluster, to the same bits."""

from featherweight.campaigns.result import Sweep
from featherweight.campaigns.running import sweep

__all__ = ["Sweep", "sweep"]
