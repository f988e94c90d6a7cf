"""The corpus files of one cache folder: ``root/corpora/<key>.json``, and the sample inside the package."""

from importlib.resources import files
from pathlib import Path

from membench.corpora.catalog import CorpusPin
from membench.errors import CorpusError
from membench.files.digest import sha256_of
from membench.files.importing import import_file
from membench.files.paths import corpora_dir
from membench.files.pinned import Progress, silent
from membench.files.verified import verified_file


def corpus_path(pin: CorpusPin, root: Path) -> Path:
    """Where the file of ``pin`` stands, present or not."""
    if pin.sha256 is None:
        return Path(str(files("membench.corpora.sample") / "sample.json"))
    return corpora_dir(root) / f"{pin.key}.json"


def is_stored(pin: CorpusPin, root: Path) -> bool:
    """Whether a file of the right size is there. Cheap, and no proof: it is not hashed."""
    path = corpus_path(pin, root)
    return path.is_file() and pin.size in (None, path.stat().st_size)


def verified_corpus(pin: CorpusPin, root: Path) -> Path:
    """The file of ``pin``, hashed now. CorpusError if it is absent or altered; an altered one is removed."""
    path = corpus_path(pin, root)
    if pin.sha256 is None or pin.size is None:
        return path
    fetch = f"membench fetch {pin.key}"
    return verified_file(
        path, sha256=pin.sha256, size=pin.size, name=f"the corpus {pin.key}", fetch=fetch, error=CorpusError
    )


def fetch_corpus(pin: CorpusPin, root: Path, *, source: Path | None = None, progress: Progress = silent) -> Path:
    """Puts the file of ``pin`` in the store unless it is there intact, and returns its path.

    ``source`` is a local copy to take instead of the network, gzip or plain. FetchError or StorageError if it ends
    without the pinned bytes; the store then holds nothing new.
    """
    target = corpus_path(pin, root)
    if pin.sha256 is None or pin.url is None:
        return target
    if is_stored(pin, root) and sha256_of(target) == pin.sha256:
        return target
    if source is not None:
        import_file(source, target, sha256=pin.sha256, size=pin.size, progress=progress)
    else:
        # Imported here, as it is slow to load and no measurement needs it.
        from membench.files.download import download

        download(pin.url, target, sha256=pin.sha256, size=pin.size, progress=progress)
    return target
