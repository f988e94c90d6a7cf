"""membench: did this change make the agent's memory better or worse?"""

__version__ = "0.1.0"
