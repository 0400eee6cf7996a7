"""Whole processes: Ray, an S3 server on loopback, workers and drivers killed in mid-run.

Each run must end as one that nothing disturbed. `just scale` runs these; they take minutes.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from runs import published

pytestmark = pytest.mark.scale

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
MANY = 120
STOPPED = "forsy-retrace: stopped; the same command goes on from here\n"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions enough for a run to be stopped in."""
    root = tmp_path_factory.mktemp("scale") / "logs"
    inputs = sorted(FIXTURES.glob("*/input.jsonl"))
    for number in range(MANY):
        (root / f"p{number % 7}").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(inputs[number % len(inputs)], root / f"p{number % 7}" / f"{number}.jsonl")
    return root


@pytest.fixture(scope="module")
def undisturbed(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    target = tmp_path_factory.mktemp("undisturbed") / "traces"
    assert begun(logs, target).wait() in (0, 1)
    return published(target)


def begun(
    root: Path | str, target: Path | str, *words: str, **env: str
) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "forsy_retrace", "batch", str(root), "-o", str(target)]
    return subprocess.Popen(
        [*command, "-q", *words], env={**os.environ, **env}, stderr=subprocess.PIPE
    )


def has_begun(target: Path, traces: int) -> None:
    """Waits until a run has written so many traces."""
    for _ in range(1200):
        if (
            target.is_dir()
            and sum((one / "manifest.json").exists() for one in target.iterdir()) >= traces
        ):
            return
        time.sleep(0.05)
    raise AssertionError("the run wrote nothing in a minute")


def children(process: int) -> list[int]:
    """Every process below another one, the newest last."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(told[1]) == process:
            found.append(int(stat.parent.name))
            found += children(int(stat.parent.name))
    return sorted(found)


def are_gone(processes: list[int]) -> None:
    """Waits until none of them runs: a driver leaves no worker behind."""
    for _ in range(200):
        if not any(Path(f"/proc/{one}").exists() for one in processes):
            return
        time.sleep(0.05)
    raise AssertionError("a worker outlived its driver")


def called(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def test_a_worker_killed_in_mid_run_costs_nothing(
    logs: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    run = begun(logs, tmp_path / "traces", "--jobs", "2")
    has_begun(tmp_path / "traces", 5)
    victim = next(p for p in children(run.pid) if "spawn_main" in called(p))
    os.kill(victim, signal.SIGKILL)
    assert run.wait() in (0, 1)
    assert published(tmp_path / "traces") == undisturbed


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_driver_stopped_in_mid_run_goes_on(
    how: signal.Signals, logs: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    target = tmp_path / "traces"
    for traces in (3, 20, 40):
        run = begun(logs, target, "--jobs", "2")
        has_begun(target, traces)
        workers = children(run.pid)
        run.send_signal(how)
        assert run.stderr is not None
        told = run.stderr.read().decode()
        assert run.wait() == (-how if how == signal.SIGKILL else 128 + how)
        assert how == signal.SIGKILL or told == STOPPED
        are_gone(workers)
    assert begun(logs, target).wait() in (0, 1)
    assert published(target) == undisturbed


def test_ray_gives_the_same(logs: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Also beside another cluster, which is gone by now: the engine is one of its own."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    run = begun(logs, tmp_path / "traces", "--engine", "ray", RAY_ADDRESS="127.0.0.1:1")
    assert run.wait() in (0, 1), run.stderr and run.stderr.read()[-2000:]
    assert published(tmp_path / "traces") == undisturbed


def at_work(engine: int) -> int:
    """A worker of an engine that converts a log; between two of them it has another name."""
    for _ in range(2000):
        for one in children(engine):
            if called(one).startswith("ray::convert_one"):
                return one
        time.sleep(0.005)
    raise AssertionError("no worker was seen at work")


def test_a_ray_worker_killed_in_mid_run_costs_nothing(
    logs: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    run = begun(logs, tmp_path / "traces", "--engine", "ray")
    has_begun(tmp_path / "traces", 5)
    os.kill(at_work(run.pid), signal.SIGKILL)
    assert run.wait() in (0, 1), run.stderr and run.stderr.read()[-2000:]
    assert published(tmp_path / "traces") == undisturbed


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """A Ray cluster on loopback that asks for a token: its process, and what a client must know."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    told = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
    head = [
        sys.executable,
        "-m",
        "ray.scripts.scripts",
        "start",
        "--head",
        "--block",
        "--num-cpus=2",
    ]
    ports = ["--node-ip-address=127.0.0.1", "--port=26379", f"--ray-client-server-port={CLIENTS}"]
    run = subprocess.Popen(
        [*head, *ports, "--include-dashboard=false"],
        env={**os.environ, **told},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    answers(CLIENTS)
    yield run.pid, told
    below = children(run.pid)
    run.terminate()
    run.wait()
    for one in below:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


CLIENTS = 26401


def answers(port: int) -> None:
    """Waits until somebody listens."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("the cluster did not come up in a minute")


def test_a_cluster_gives_the_same_though_a_worker_is_killed(
    logs: Path, undisturbed: dict[str, bytes], cluster: tuple[int, dict[str, str]], tmp_path: Path
) -> None:
    head, told = cluster
    engine = ["--engine", f"ray://127.0.0.1:{CLIENTS}"]
    run = begun(logs, tmp_path / "traces", *engine, **told)
    has_begun(tmp_path / "traces", 5)
    os.kill(at_work(head), signal.SIGKILL)
    assert run.wait() in (0, 1), run.stderr and run.stderr.read()[-2000:]
    assert published(tmp_path / "traces") == undisturbed


@pytest.fixture
def store() -> Iterator[dict[str, str]]:
    """An S3 server on loopback, and what a client must know of it."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="the extra cloud is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    server.stop()


@pytest.mark.parametrize("engine", ["pool", "ray"])
def test_a_store_gives_and_takes_the_same(
    engine: str,
    logs: Path,
    undisturbed: dict[str, bytes],
    store: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="the extra ray is not installed")
    import s3fs

    for name, value in store.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    s3 = s3fs.S3FileSystem(endpoint_url=store["AWS_ENDPOINT_URL"])
    bucket = f"for-{engine}"
    s3.mkdir(bucket)
    s3.put(f"{logs}/", f"{bucket}/logs/", recursive=True)
    words = ("--engine", engine, "--ledger", str(tmp_path / "ledger.sqlite"))
    for _ in range(2):
        run = begun(f"s3://{bucket}/logs", f"s3://{bucket}/traces", *words, **store)
        assert run.wait() in (0, 1), run.stderr and run.stderr.read()[-2000:]
    s3.invalidate_cache()
    s3.get(f"{bucket}/traces/", str(tmp_path / "fetched"), recursive=True)
    assert published(tmp_path / "fetched") == undisturbed
