"""Pictures: curves of a trajectory on matplotlib; stills and GIFs of robots, made without a GPU."""

from featherweight.plot.camera import Camera
from featherweight.plot.curves import plot
from featherweight.plot.pictures import movie, still

__all__ = ["Camera", "movie", "plot", "still"]
