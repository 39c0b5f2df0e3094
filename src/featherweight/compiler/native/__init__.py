"""Object code: compiled for this machine, kept on disk, linked and loaded into memory."""
