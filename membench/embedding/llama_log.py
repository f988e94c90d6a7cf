"""llama.cpp's own messages: kept for error reports instead of written over the terminal."""

from collections import deque

import llama_cpp

_ERROR = 4
_messages: deque[str] = deque(maxlen=4)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _keep(level: int, text: bytes, _user_data: object) -> None:
    if level == _ERROR:
        _messages.append(text.decode("utf-8", "replace").strip())


def capture() -> None:
    """From here on llama.cpp's errors are kept, and the rest is dropped."""
    _messages.clear()
    llama_cpp.llama_log_set(_keep, None)


def last() -> str:
    """The last few errors on one line, or a sentence that there were none."""
    return "; ".join(_messages) or "llama.cpp gave no reason"
