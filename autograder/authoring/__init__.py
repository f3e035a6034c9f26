"""From a chapter's sources to its notebooks, and the proof that they hold."""

from .misconceptions import right, wrong

__all__ = ["right", "wrong"]
