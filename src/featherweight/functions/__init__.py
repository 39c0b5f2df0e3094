"""Functions of a user, compiled for arrays, and their derivatives."""

from featherweight.functions.configuration import Configuration, configuration
from featherweight.functions.derivatives import Derivative, derivative, jvp, vjp
from featherweight.functions.function import Function, function

__all__ = ["Configuration", "Derivative", "Function", "configuration", "derivative", "function", "jvp", "vjp"]
