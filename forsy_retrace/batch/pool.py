"""Processes of this machine. A worker that dies takes no other log with it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any

from forsy_retrace import memory

from .engine import A, B, Lost

AHEAD = 2
"""Tasks that wait for each worker."""

PATIENCE = 10
"""Seconds in which workers that were told to end have ended."""


class Pool:
    """Worker processes. Tasks in flight when one dies are run again, each alone."""

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or _cores()
        self._pool: ProcessPoolExecutor | None = None

    def map(self, work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[tuple[A, B | Lost]]:
        waiting = iter(tasks)
        flying: dict[Future[B], A] = {}
        while True:
            for task in islice(waiting, self.workers * AHEAD - len(flying)):
                flying[self._given(work, task)] = task
            if not flying:
                return
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            if any(isinstance(one.exception(), BrokenProcessPool) for one in done):
                self.close()
                suspects, flying = list(flying.items()), {}
                yield from self._after_a_death(work, suspects)
                continue
            for one in done:
                yield flying.pop(one), one.result()

    def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            processes = list((pool._processes or {}).values())
            for process in processes:  # first: one that still starts would miss what shutdown frees
                process.terminate()
            manager: Any = pool._executor_manager_thread
            pool.shutdown(wait=False, cancel_futures=True)
            if manager is not None:  # Python 3.11 wakes it at the end, if it can, by a closed pipe
                manager.join(PATIENCE)

    def _after_a_death(
        self, work: Callable[[A], B], suspects: list[tuple[Future[B], A]]
    ) -> Iterator[tuple[A, B | Lost]]:
        """What was in flight: done before the death, or tried again in a process of its own."""
        for future, task in suspects:
            if future.done() and not future.cancelled() and future.exception() is None:
                yield task, future.result()
                continue
            yield task, _alone(work, task)

    def _given(self, work: Callable[[A], B], task: A) -> Future[B]:
        """A task to the pool. One that broke since it was last looked at says so as its outcome."""
        if self._pool is None:
            self._pool = _executor(self.workers)
        try:
            with _deaf():
                return self._pool.submit(work, task)
        except BrokenProcessPool as broken:
            refused: Future[B] = Future()
            refused.set_exception(broken)
            return refused


def _alone(work: Callable[[A], B], task: A) -> B | Lost:
    """A suspect in a process of its own, twice at most: the first death may have had a reason."""
    for _ in range(2):
        with _executor(1) as executor:
            try:
                with _deaf():
                    told = executor.submit(work, task)
                return told.result()
            except BrokenProcessPool:
                continue
    return Lost()


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor(workers: int) -> ProcessPoolExecutor:
    """Made before `_deaf`: Python's tracker of resources, started here, lets Ctrl-C in again."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare)


@contextmanager
def _deaf() -> Iterator[None]:
    """A worker that is started meanwhile never hears Ctrl-C, not even before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Ctrl-C is for the one that gives out the work; a worker looks for cycles rarely."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory.look_rarely()
    threading.Thread(target=_end_with_the_driver, daemon=True).start()


def _end_with_the_driver() -> None:
    """A worker whose driver was killed would wait for work for ever."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
