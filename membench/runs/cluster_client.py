"""The client's end of a Dask cluster: tasks are sent, a bounded number at a time, and come back in any order."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from membench.errors import InstrumentError, MembenchError, UsageError
from membench.runs.cluster_task import afterwards, answer, code
from membench.runs.cluster_worker import Done

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_SECONDS = 10.0
_WORKER_SECONDS = 30.0
_LOOK_SECONDS = 2.0
_SCHEMES = ("tcp", "tls", "ws", "wss")

Item = TypeVar("Item")


class ClusterClient:
    """Connected to the scheduler at ``address``."""

    def __init__(self, client: "Client", address: str) -> None:
        self._client = client
        self._address = address

    def workers(self) -> int:
        """How many worker processes there are now. Raises InstrumentError where the scheduler is gone."""
        return len(self._threads())

    def threads(self) -> int:
        """How many threads they have together. Raises InstrumentError where the scheduler is gone."""
        return sum(self._threads().values())

    def completed(self, tasks: Iterator[tuple[Item, bytes]], at_once: Callable[[], int]) -> Iterator[tuple[Item, Done]]:
        """What each of ``tasks`` gave, as it is there, with its item; no more than ``at_once`` are sent ahead.

        A task whose worker is lost is done again by another. Raises the MembenchError that a task did, and
        InstrumentError where it cannot be done.
        """
        waiting: dict[Future, Item] = {}
        try:
            while True:
                for item, body in islice(tasks, max(at_once() - len(waiting), 0)):
                    waiting[self._sent(body)] = item
                if not waiting:
                    return
                for future in self._finished(list(waiting)):
                    done = self._result(future)
                    yield waiting.pop(future), done
        finally:
            if waiting:
                with suppress(Exception):
                    self._client.cancel(list(waiting), force=True)

    def everywhere(self, body: bytes) -> None:
        """Has every worker make the call in ``body`` when it has done what it is at, as far as that can be had."""
        with suppress(Exception):
            if self._client.status == "running":
                self._client.run(afterwards, body, on_error="ignore")

    def _sent(self, body: bytes) -> "Future":
        # Impure: its key is its own. Dask would take tasks of two runs for one if their keys were equal.
        return self._client.submit(answer, code(), body, pure=False)

    def _finished(self, futures: list["Future"]) -> list["Future"]:
        """Those that ended, at least one. Raises InstrumentError where nobody is left to do them."""
        from distributed import CancelledError, wait

        alone_since = None
        while True:
            try:
                with self._client.as_current():
                    return list(wait(futures, timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                if self.workers():
                    alone_since = None
                elif monotonic() - (alone_since := alone_since or monotonic()) > _WORKER_SECONDS:
                    raise self._no_worker("has had no worker") from None
            except CancelledError as error:
                raise self._gone(error) from error

    def _result(self, future: "Future") -> Done:
        from distributed import CancelledError, KilledWorker

        try:
            done: Done = future.result()
        except MembenchError:
            raise
        except KilledWorker as error:
            raise InstrumentError(
                f"A task was given up: {error.allowed_failures + 1} workers ended while they did it, the last of them "
                f"{error.last_worker.address}.",
                "Look at the log of that worker: it may lack memory, or the memory under test may end its process.",
            ) from error
        except (CancelledError, OSError) as error:
            raise self._gone(error) from error
        # What Dask itself raises is of many kinds, and what it cannot read is an error of any.
        except Exception as error:
            raise InstrumentError(
                f"The Dask cluster at {self._address} failed: {_told(error)}",
                "Look at the logs of its scheduler and workers; all of them need the membench[dask] that runs here.",
            ) from error
        return done

    def _threads(self) -> dict[str, int]:
        try:
            return dict(self._client.nthreads())
        except Exception as error:
            raise self._gone(error) from error

    def _gone(self, error: BaseException) -> InstrumentError:
        return InstrumentError(
            f"The Dask scheduler at {self._address} was lost in mid-run: {_told(error)}",
            "Start it and its workers again, and run the same command: what was finished is kept.",
        )

    def _no_worker(self, has: str) -> InstrumentError:
        return InstrumentError(
            f"The Dask scheduler at {self._address} {has} for {_WORKER_SECONDS:g} s.",
            f"Start some: dask worker {self._address} --nworkers N",
        )

    def await_worker(self) -> None:
        """Raises InstrumentError where none joins in time."""
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise self._no_worker("had no worker") from None


@contextmanager
def connected(address: str) -> Iterator[ClusterClient]:
    """The cluster whose scheduler is at ``address``, with at least one worker.

    Raises UsageError for what is no address, or without Dask; InstrumentError without a scheduler or a worker.
    """
    _check_address(address)
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"--executor dask needs Dask: {error}", "Install it with: pip install 'membench[dask]'"
        ) from error
    try:
        asyncio.run(asyncio.wait_for(_greeted(address), _CONNECT_SECONDS + 1))
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    # A port at which something else listens gives errors of any kind.
    except Exception as error:
        raise InstrumentError(
            f"There is no Dask scheduler at {address}: {_told(error)}",
            f"Start one with `dask scheduler`, and its workers with `dask worker {address} --nworkers N`.",
        ) from error
    with client:
        cluster = ClusterClient(client, address)
        cluster.await_worker()
        yield cluster


async def _greeted(address: str) -> None:
    """Has the one at ``address`` say that it speaks as Dask does: a `Client` waits for that without end."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=_CONNECT_SECONDS, **Security().get_connection_args("client"))
    comm.abort()


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        good = parts.scheme in _SCHEMES and bool(parts.hostname) and bool(parts.port) and parts.path in ("", "/")
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            f"--scheduler {address} is no address of a Dask scheduler.", "Write it such as tcp://host:8786."
        )


def _told(error: BaseException) -> str:
    line = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
