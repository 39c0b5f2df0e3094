"""Identity: what an object is, by its fields, all the way down."""

from featherweight.identity.fields import Fields
from featherweight.identity.ours import is_ours
from featherweight.identity.writer import Identity, identity

__all__ = ["Fields", "Identity", "identity", "is_ours"]
