"""A builder of MLIR text in SSA form.

It numbers values, keeps the nesting of regions, and gives each op the location
that was set last, so that what the compiler says of the text points at the
source it was made from. It knows no dialect: what is built is verified by the
compiler that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Union

from ..errors import Location
from .types import AttributeValue, attribute, string

Body = list[Union[str, "Block"]]


class Value:
    """An SSA value: its name with the percent sign, and its type."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: str) -> None:
        self.name = name
        self.type = type

    def __str__(self) -> str:
        return self.name


class Block:
    """An op with one or more regions. The head may change until it is printed."""

    def __init__(self, head: str) -> None:
        self.head = head
        self.regions: list[tuple[str, Body]] = [("", [])]
        self.tail = ""
        self.place = ""


class Builder:
    """Collects a module.

    `location` is where the ops that follow come from, or None. `effects` counts what
    was built that may write memory or belongs to another region.
    """

    def __init__(self) -> None:
        self.location: Location | None = None
        self.effects = 0
        self._top: Body = []
        self._body: Body = self._top
        self._names: dict[str, int] = {}
        self._places: dict[Location, str] = {}

    # Names -------------------------------------------------------------

    def name(self, hint: str = "") -> str:
        """A fresh name; `hint` becomes part of it."""
        stem = "".join(c if c.isalnum() or c == "_" else "_" for c in hint)
        if not stem.isascii() or stem[:1].isdigit():
            stem = ""
        count = self._names.get(stem, 0)
        self._names[stem] = count + 1
        if not stem:
            return f"%{count}"
        return f"%{stem}" if count == 0 else f"%{stem}_{count}"

    def _loc(self) -> str:
        if self.location is None:
            return ""
        alias = self._places.get(self.location)
        if alias is None:
            alias = self._places[self.location] = f"#loc{len(self._places)}"
        return f" loc({alias})"

    def place(self) -> str:
        """What follows an op to say where it comes from."""
        return self._loc()

    # Ops ---------------------------------------------------------------

    def line(self, text: str) -> None:
        """An op without results, in its own assembly."""
        self.effects += 1
        self._body.append(text + self._loc())

    def replace(self, change: Callable[[str], str], start: str = "") -> None:
        """Puts something else in the place of the last op, if that begins with `start`."""
        last = self._body[-1]
        if isinstance(last, str) and last.startswith(start):
            self._body[-1] = change(last)

    def label(self, text: str) -> None:
        """The label of a block, with its arguments."""
        self._body.append(text + ":")

    def assign(self, text: str, type: str, hint: str = "") -> Value:
        """An op with one result, in its own assembly."""
        value = Value(self.name(hint), type)
        self._body.append(f"{value.name} = {text}{self._loc()}")
        return value

    def op(
        self,
        name: str,
        operands: Sequence[Value] = (),
        results: Sequence[str] = (),
        attributes: Mapping[str, AttributeValue] | None = None,
        properties: Mapping[str, AttributeValue] | None = None,
        hint: str = "",
    ) -> list[Value]:
        """Any op in generic form. Gives its results."""
        self.effects += 1
        values = [Value(self.name(hint), type) for type in results]
        text = ", ".join(value.name for value in values) + " = " if values else ""
        text += f"{string(name)}({', '.join(value.name for value in operands)})"
        if properties:
            text += f" <{attribute(properties)}>"
        if attributes:
            text += f" {attribute(attributes)}"
        inputs, outputs = ", ".join(value.type for value in operands), ", ".join(results)
        text += f" : ({inputs}) -> ({outputs})"
        self._body.append(text + self._loc())
        return values

    # Regions -----------------------------------------------------------

    @contextmanager
    def block(self, head: str, tail: str = "") -> Iterator[Block]:
        """An op with a region, in its own assembly: `head` up to the brace."""
        opened = Block(head)
        opened.tail, opened.place = tail, self._loc()
        self._body.append(opened)
        with self.into(opened.regions[0][1]):
            yield opened

    @contextmanager
    def another(self, block: Block, between: str) -> Iterator[None]:
        """One more region of an op, after the word `between` (such as `else`)."""
        inside: Body = []
        block.regions.append((between, inside))
        with self.into(inside):
            yield

    @contextmanager
    def capture(self) -> Iterator[Body]:
        """Ops built inside are kept aside; `splice` puts them in somewhere."""
        kept: Body = []
        with self.into(kept):
            yield kept

    @contextmanager
    def into(self, body: Body) -> Iterator[None]:
        """Ops built inside go to the end of `body`."""
        outside, self._body = self._body, body
        self.effects += 1
        try:
            yield
        finally:
            self._body = outside
            self.effects += 1

    def splice(self, body: Body) -> None:
        """Puts in ops that were kept aside. They may be used once."""
        self.effects += 1
        self._body.extend(body)

    @contextmanager
    def function(
        self, name: str, arguments: Sequence[tuple[str, str]], attributes: Mapping[str, AttributeValue] | None = None
    ) -> Iterator[list[Value]]:
        """A `func.func` that returns nothing. Arguments are names and types; each
        gets a `tile.name`. Gives the arguments' values."""
        values = [Value(self.name(hint), type) for hint, type in arguments]
        inside = ", ".join(
            f"{value.name}: {value.type} {{tile.name = {string(hint)}}}" for value, (hint, _) in zip(values, arguments)
        )
        head = f"func.func @{name}({inside})"
        if attributes:
            head += f" attributes {attribute(attributes)}"
        with self.block(head):
            yield values
            self.line("return")

    # Text --------------------------------------------------------------

    def module(self) -> str:
        """The text of everything built so far."""
        out: list[str] = []
        _render(self._top, "", out)
        for place, alias in self._places.items():
            out.append(f"{alias} = loc({string(place.file)}:{place.line}:{place.column})")
        return "\n".join(out) + "\n"


def _render(body: Body, indent: str, out: list[str]) -> None:
    for item in body:
        if isinstance(item, str):
            out.append(indent + item)
            continue
        for index, (between, inside) in enumerate(item.regions):
            out.append(f"{indent}{item.head if index == 0 else '} ' + between} {{")
            _render(inside, indent + "  ", out)
        out.append(f"{indent}}}{item.tail}{item.place}")
