"""Measures candidates in a process of its own, for the tuner.

A candidate may crash or never end; the process that runs it is then replaced, and
the tuner goes on. Requests and answers are pickles, each after its length.
"""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

from .errors import TileError


def _send(stream: IO[bytes], item: Any) -> None:
    data = pickle.dumps(item)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


class Worker:
    """A process that measures, started when it is needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def measure(self, request: dict[str, Any], timeout: float) -> float:
        """The time in milliseconds. A candidate that fails, crashes or takes longer
        than `timeout` seconds raises TileError."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"import sys; sys.path[:0] = {sys.path!r}; from tile._measure import serve; serve()",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            _send(process.stdin, request)
            answer = _receive(process.stdout)
        except (EOFError, BrokenPipeError, OSError):
            process.wait()
            self.process = None
            reason = f"took longer than {timeout:g} s" if late.is_set() else f"crashed (exit code {process.returncode})"
            raise TileError(reason) from None
        finally:
            timer.cancel()
        if "error" in answer:
            raise TileError(answer["error"])
        return float(answer["latency"])

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def serve() -> None:
    """Answers requests until the input ends."""
    answers = open(sys.stdout.fileno(), "wb", closefd=False)
    # What a kernel prints must not come between the answers.
    sys.stdout = sys.stderr
    while True:
        try:
            request = _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            _send(answers, {"latency": _measure(**request)})
        except Exception as error:
            _send(answers, {"error": f"{type(error).__name__}: {error}"})


def _measure(
    recipe: Any, parameters: Sequence[Any], outputs: Sequence[int], inputs: Any, supply_type: int, bench: dict[str, Any]
) -> float:
    from .kernel import Kernel
    from .profiler import Profiler

    kernel = Kernel(recipe.compile(), recipe, parameters, outputs)
    return float(Profiler(kernel, supply_type).do_bench(input_tensors=inputs, **bench))
