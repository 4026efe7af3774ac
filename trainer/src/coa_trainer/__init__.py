"""A Tinker-protocol server on PyTorch for one machine. It knows tensors, not agents."""

__version__ = "0.1.0"
