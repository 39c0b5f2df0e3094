"""Files of arrays that survive a kill at any byte. Knows no dynamics."""

from featherweight.recording.recording import Recording, read, write

__all__ = ["Recording", "read", "write"]
