"""How to reach a page that is served by another machine: what to forward, said where it matters."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit


def how_to_reach(url: str, environment: Mapping[str, str] | None = None, notebook: bool | None = None) -> str:
    """A sentence for those whose browser is elsewhere; empty where it is on this machine, as far as can be seen."""
    seen = os.environ if environment is None else environment
    port = urlsplit(url).port
    if "VSCODE_IPC_HOOK_CLI" in seen or (seen.get("TERM_PROGRAM") == "vscode" and "SSH_CONNECTION" in seen):
        return f"VS Code forwards port {port} itself: click the address, or see its tab PORTS."
    ssh = seen.get("SSH_CONNECTION", "").split()
    if len(ssh) == 4:
        return (
            f"Your browser is on another machine? Run there:  ssh -N -L {port}:localhost:{port} {_user()}@{ssh[2]}  "
            f"and open http://localhost:{port}"
        )
    remote = any(name in seen for name in ("JUPYTERHUB_SERVICE_PREFIX", "COLAB_RELEASE_TAG", "KUBERNETES_SERVICE_HOST"))
    if remote or (in_notebook() if notebook is None else notebook):
        return (
            f"If this notebook runs on another machine, forward the port:  ssh -N -L {port}:localhost:{port} HOST  "
            f"and open http://localhost:{port}. Without SSH, run.player() shows a run in the cell."
        )
    return ""


def in_notebook() -> bool:
    """Does this run in a notebook's kernel?"""
    return "ipykernel" in sys.modules


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "USER"
