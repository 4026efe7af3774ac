"""A Tinker-protocol server on PyTorch for one machine. It deals with tensors, not agents."""

__version__ = "0.1.0"
