"""The strict schema: yes or no for a step, fast, and what is wrong in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .values import fields_of, items_of

SCHEMA = Path(__file__).parent.parent / "schema" / "forsy_trace_v0_1.json"


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong: `step` counts from 1 and is None for the trace itself."""

    step: int | None
    field: str
    rule: str
    text: str


@cache
def step_validator() -> Callable[[Mapping[str, Any]], bool]:
    """The test whether one step keeps the strict schema, compiled once."""
    return _validator(_part("#/$defs/step"))


@cache
def trace_validator() -> Callable[[Mapping[str, Any]], bool]:
    """The same test for a whole trace."""
    return _validator(whole_schema())


def _validator(schema: dict[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    import jsonschema_rs

    compiled = jsonschema_rs.validator_for(schema)

    def is_valid(value: Mapping[str, Any]) -> bool:
        try:
            return bool(compiled.is_valid(value if isinstance(value, dict) else dict(value)))
        except (TypeError, ValueError):  # not JSON: a set, a key that is no text, nested too deep
            return False

    return is_valid


@cache
def whole_schema() -> dict[str, Any]:
    schema: dict[str, Any] = msgspec.json.decode(SCHEMA.read_bytes())
    return schema


STEP_FIELDS: tuple[str, ...] = tuple(whole_schema()["$defs"]["step"]["properties"])
KNOWN = frozenset(STEP_FIELDS)
SELF_EVIDENT = ("step", "turn", "actor", "action", "execution_mode")


def _part(*refs: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": ref} for ref in refs], "$defs": whole_schema()["$defs"]}


@cache
def _judge(*refs: str) -> Any:  # jsonschema's stubs give its validators no type of use
    """The slow judge that can say why: of the whole trace, or of the parts of the schema named."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    # msgspec.to_builtins leaves tuples as they are; on disk they are arrays.
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "array": lambda _, value: isinstance(value, list | tuple),
            "object": lambda _, value: isinstance(value, Mapping),
        }
    )
    strict = extend(  # type: ignore[no-untyped-call]  # as its stubs have it
        Draft202012Validator, type_checker=types
    )
    return strict(_part(*refs) if refs else whole_schema(), registry=Registry())


def judged_by_schema(trace: object) -> Iterator[Problem]:
    """What the compiled validator passes is not judged again: it is 150 times as fast."""
    is_valid, refused = step_validator(), []
    if isinstance(trace, Mapping) and isinstance(trace.get("steps"), list | tuple):
        refused = [
            (n, step)
            for n, step in enumerate(trace["steps"], 1)
            if not (isinstance(step, Mapping) and is_valid(step))
        ]
        trace = {**trace, "steps": []}
    if not (isinstance(trace, Mapping) and trace_validator()(trace)):
        yield from _reworded(_judge(), trace)
    for n, step in refused:
        said = list(_reworded(_judge("#/$defs/step"), step, n))
        yield from said or [Problem(n, "steps", "schema", "does not keep the schema.")]


def judged_as_legacy(trace: object) -> Iterator[Problem]:
    """Old traces lack fields and have words of their own; what each actor may say still holds."""
    yield Problem(
        None, "schema_version", "legacy-shape", "is older than forsy-trace-v0.1: judged in part."
    )
    judge = _judge("#/$defs/user_message", "#/$defs/not_user_message")
    for n, step in enumerate(items_of(fields_of(trace).get("steps")), 1):
        yield from _reworded(judge, step, n)


def _reworded(judge: Any, value: object, step: int | None = None) -> Iterator[Problem]:
    """jsonschema's own messages quote what they refuse; these name only what the schema says."""
    seen = set()
    for error in judge.iter_errors(value):
        place, keyword = _place(error.absolute_path), str(error.validator)
        here = [(place, _words(error))]
        if keyword == "required":
            names = [name for name in error.validator_value if name not in error.instance]
            here = [(f"{place}.{name}" if place else name, "is missing") for name in names]
        rule, where = _clause(judge.schema, error)
        for field, text in here:
            if (field, text) not in seen:  # one error comes for each name that `required` misses
                seen.add((field, text))
                where_there = f" ({where})" if where else ""
                root = "steps" if step else "trace"
                yield Problem(step, field or root, rule or keyword, f"{text}{where_there}.")


def _place(path: Iterable[str | int]) -> str:
    """`static_output.artifacts[0].hash`: names of the schema, since it lets no others in."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(
        "."
    )


def _words(error: Any) -> str:
    wanted, schema = error.validator_value, fields_of(error.schema)
    match error.validator:
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            return f"is {_kind(error.instance)}, should be {' or '.join(types)}"
        case "const":
            return f"should be {_word(wanted)}"
        case "enum":
            return f"should be one of {', '.join(_word(word) for word in wanted)}"
        case "not":
            return f"should not be {_word(wanted.get('const'))}"
        case "pattern":
            return f"should be {schema.get('description', 'of the form ' + wanted)}"
        case "minimum":
            return f"should be {wanted} or more"
        case "maximum":
            return f"should be {wanted} or less"
        case "minLength" | "minItems":
            return "should not be empty; null is, where nothing is known"
        case "uniqueItems":
            return "names one thing twice"
        case "additionalProperties":
            known = schema.get("properties", {})
            unknown = sum(key not in known for key in error.instance)
            return f"has fields that the format does not know: {unknown}"
    return "does not keep the schema"


def _clause(schema: object, error: Any) -> tuple[str, str]:
    """Name and description of the invariant that an error comes from, if it is one."""
    node: Any = schema
    name, found = "", ("", "")
    for key in error.absolute_schema_path:
        while "$ref" in node:
            name = str(node["$ref"]).rpartition("/")[2]
            node = whole_schema()["$defs"][name]
        if "if" in node:
            found = (name.replace("_", "-"), str(node["description"]))
        node = node[key]
    return found


def _word(value: object) -> str:
    return "null" if value is None else str(value)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
    return "object"
