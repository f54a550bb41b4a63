"""The compiler's C ABI; use the package around it."""

from typing import Any

class Session:
    def __init__(self) -> None: ...
    def load(self, text: str, name: str) -> Program:
        """Parses and verifies MLIR text; `name` stands for it in diagnostics."""

class Program:
    def describe(self) -> str:
        """The entries of the program, as JSON."""
    def compile(self, function: str, options: str) -> Kernel:
        """Compiles an entry; `options` is JSON as in Tile/C/Tile.h."""
    def run_passes(self, pipeline: str) -> str:
        """The program's text after a pipeline of passes."""

class Kernel:
    def describe(self) -> str:
        """What was compiled, as JSON."""
    def stage(self, name: str) -> bytes:
        """One stage on the program's way."""
    def take_output(self) -> str:
        """What tile.print printed since this was asked last."""

class Launcher:
    def __init__(
        self, kernel: Kernel, parameters: list[tuple[Any, ...]], is_device: bool, device: int, has_outputs: bool
    ) -> None: ...
    def __call__(self, *arguments: Any, stream: int | None = None) -> Any:
        """Reads the arrays and launches; with outputs, what `_with_outputs` of a class
        that derives from this one gives for the arguments and the stream."""
    def launch(self, arguments: tuple[Any, ...], stream: int | None) -> None:
        """Reads the arrays, those of outputs included, and launches."""

def environment() -> str: ...
def set_errors(refused: type[Exception], failed: type[Exception]) -> None: ...
