"""The viewer, in a browser: replay of trajectories, robots to be posed, simulations to play with. On viser."""

from featherweight.viewer.knobs import Knob
from featherweight.viewer.live import Live
from featherweight.viewer.server import open_page
from featherweight.viewer.show import Viewer, show
from featherweight.viewer.writing import export

__all__ = ["Knob", "Live", "Viewer", "export", "open_page", "show"]
