"""What membench raises.

    MembenchError
      UsageError          what was asked for cannot be done as asked         exit 2
      InstrumentError     the instrument broke: no figure can be trusted     exit 1
        CorpusError       a corpus is absent, altered, malformed or unfit
        ModelError        a model is absent, altered, or gives unusable vectors
        MemoryCallError   the memory under test failed a call
        FetchError        a download did not yield the pinned bytes
        SetupError        the caller's own setup command failed
        ReportError       a report file is malformed, or its figures do not follow from its ranks
        StorageError      a file cannot be read or written
        BusyError         another run holds the cache folder

Every message says what failed and where; ``remedy`` says what to do next. They are caught once, at the entry points.
"""


class MembenchError(Exception):
    """A failure that a person can act on.

    ``what`` names what failed, where, and what was expected; ``remedy`` is the next step, or None where there is none.
    """

    exit_code = 1

    def __init__(self, what: str, remedy: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return self.what if self.remedy is None else f"{self.what}\n{self.remedy}"


class UsageError(MembenchError):
    """An unknown key, option or value."""

    exit_code = 2


class InstrumentError(MembenchError):
    """The instrument broke."""


class CorpusError(InstrumentError):
    """A corpus is absent, altered, malformed, or cannot be measured."""


class ModelError(InstrumentError):
    """A model is absent, altered, or gives vectors that cannot be used."""


class MemoryCallError(InstrumentError):
    """The memory under test failed a call."""


class FetchError(InstrumentError):
    """A download ended without the bytes that the catalog pins."""


class SetupError(InstrumentError):
    """The command that the caller has run first failed."""


class ReportError(InstrumentError):
    """A report file is malformed, or contradicts itself."""


class StorageError(InstrumentError):
    """A file or folder cannot be read or written."""


class BusyError(InstrumentError):
    """Another run holds the cache folder."""
