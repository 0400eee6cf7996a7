"""Ray runs the work: an engine of this machine's cores, or a cluster that is there already."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from forsy_retrace.errors import RetraceError

from .engine import A, B, Lost

AHEAD = 2
TRIES, PAUSE = 5, 2.0
"""How often a cluster that hangs up is asked, and the seconds between; it listens too early."""


def _join(ray: Any, told: dict[str, Any]) -> None:
    for tries in range(1, TRIES + 1):
        try:
            ray.init(log_to_driver=False, configure_logging=False, **told)
        except ConnectionAbortedError:
            if tries == TRIES:
                raise
            time.sleep(PAUSE)
        else:
            return


class OnRay:
    """`ray` starts an engine of its own, `ray://host:10001` joins a cluster."""

    def __init__(self, address: str = "ray", workers: int = 0) -> None:
        os.environ.setdefault(
            "RAY_USAGE_STATS_ENABLED", "0"
        )  # logs are private, figures of them too
        try:
            import ray
        except ImportError:
            raise RetraceError("this engine needs Ray: pip install 'forsy-retrace[ray]'") from None
        self._ray: Any = ray
        told: dict[str, Any] = {"address": address}
        if address == "ray":  # without an address, Ray would join the last cluster that it knew of
            told = {"address": "local", "include_dashboard": False, "num_cpus": workers or None}
        try:
            _join(ray, told)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = f"Ray can't be reached or started ({type(error).__name__})"
            hint = "see its address and its logs, and whether it asks for a token (RAY_AUTH_MODE)"
            raise RetraceError(f"{why}; {hint}") from None

    def map(self, work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[tuple[A, B | Lost]]:
        ray = self._ray
        remote = ray.remote(max_retries=1)(work)
        waiting = iter(tasks)
        flying: dict[Any, A] = {}
        most = max(1, int(ray.cluster_resources().get("CPU", 1))) * AHEAD
        while True:
            for task in islice(waiting, most - len(flying)):
                flying[remote.remote(task)] = task
            if not flying:
                return
            done, _ = ray.wait(list(flying))
            for one in done:
                task = flying.pop(one)
                try:
                    yield task, ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
                    yield task, Lost()

    def close(self) -> None:
        self._ray.shutdown()
