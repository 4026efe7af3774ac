"""How much is compiled. Without PyTorch, so that options can be read before it is loaded."""

OFF, AUTO, ON, MOST = "off", "auto", "on", "most"
MODES = (AUTO, OFF, ON, MOST)
