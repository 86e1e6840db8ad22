"""The runner on this machine."""
