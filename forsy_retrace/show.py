"""A trace for the eye: its steps on one screen, a step in full, the ground of a value."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from forsy_retrace.builder.sections import sentence_of
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.printings import learn_log
from forsy_retrace.redact import Rules, masker_of
from forsy_retrace.sdk import resolve, text_of, text_or_json
from forsy_retrace.trace import FIELDS, counted
from forsy_retrace.trace_folder import json_lines, json_of, load_folder, sources_of
from forsy_retrace.validate import Problem, problems
from forsy_retrace.verify import Logs, places

Json = Any
MARKS = {True: "ok", False: "FAILED", None: ""}
LONGEST = 2000
"""Characters of source text that `--why` shows."""


def masked(text: str, rules: Rules) -> str:
    """What is shown, without the texts that the user wants masked; a trace itself is masked."""
    if not (rules.terms or rules.patterns):
        return text
    masker = masker_of(rules)
    masker.learn(text)
    masker.seal()
    return masker.mask(text)


def overview(folder: Path) -> str:
    """One line a step."""
    trace, _ = load_folder(folder)
    summary = trace["summary"]
    lines = [
        f"{trace['dataset_summary']['title']}",
        f"{counted(summary['total_steps'], 'step')}, {counted(summary['total_turns'], 'turn')},"
        " ended as"
        f" {trace['termination_reason']}, confidence {summary['agent_confidence']} of 100",
        "",
    ]
    lines += [_line(step) for step in trace["steps"]]
    return "\n".join(lines)


def _line(step: Json) -> str:
    what = step["tool"] or step["message_role"] or step["action"]
    text = " ".join((step["input"] or step["output"] or step["reasoning"] or "").split())
    marks = [MARKS[step["success"]], {1: "+1", -1: "-1"}.get(step["eval"], "")]
    if step["caused_by"]:
        marks.append("<- " + ",".join(str(n) for n in step["caused_by"]))
    if step["retry_of"]:
        marks.append(f"retry of {step['retry_of']}")
    if step["feedback_type"]:
        marks.append(step["feedback_type"])
    told = " ".join(mark for mark in marks if mark)
    head = f"{step['step']:>4}  {step['actor']:<9} {step['operation'] or '':<8} {what}"
    return f"{head}  {text[:70]}" + (f"  [{told}]" if told else "")


def one_step(folder: Path, number: int) -> str:
    """Every field of a step that says something."""
    step = _step(load_folder(folder)[0], number)
    lines = []
    for name in FIELDS:
        value = step.get(name)
        if value is None:
            continue
        text = text_or_json(value)
        lines.append(f"{name}: {text}" if "\n" not in text else f"{name}:\n{_indented(text)}")
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _step(trace: Json, number: int) -> Json:
    steps = trace["steps"]
    if number > len(steps):
        raise RetraceError(f"the trace has {counted(len(steps), 'step')}, and no step {number}")
    return steps[number - 1]


def explained(
    folder: Path,
    number: int,
    field: str,
    source: Path | None,
    rules: Rules = Rules(),  # noqa: B008 (Rules is frozen)
) -> str:
    """A value with its grade, rule, confidence and the masked text that bears it out.

    `rules` say what the trace was made with; without them, no text is shown of a log in which a
    user's own were found.
    """
    trace, rows = load_folder(folder)
    step = _step(trace, number)
    if field not in FIELDS:
        raise RetraceError(f"no such field; the fields are {', '.join(FIELDS)}")
    if number > len(rows):
        raise RetraceError(f"evidence.jsonl has {len(rows)} rows; see validate")
    row = rows[number - 1]
    entry = row["fields"].get(field)
    value = step.get(field)
    lines = [f"step {number}, {field}: {text_or_json(value)}"]
    if entry is None:
        lines.append(
            "  no ground: " + ("null" if value is None else "set by the trace's own order")
        )
        return "\n".join(lines)
    lines.append(f"  grade       {entry['grade']}")
    if "rule" in entry:
        lines.append(f"  rule        {entry['rule']}")
        sentence = sentence_of(field, entry["rule"])
        lines += [f"  which says  {sentence}"] if sentence else []
    if "confidence" in entry:
        lines.append(f"  confidence  {entry['confidence']}")
    for other in entry.get("steps", ()):
        lines.append(f"  rests on    {_line(_step(trace, other)).strip()}")
    for vote in entry.get("votes", ()):
        lines.append(f"  vote        {vote['rule']}: {vote['value']} ({vote['confidence']})")
    lines += _sources(folder, row, entry, source, rules)
    return "\n".join(lines)


MOST_PLACES = 12
"""So many places of one value are shown: a streamed text has one for each piece."""


def _sources(folder: Path, row: Json, entry: Json, source: Path | None, rules: Rules) -> list[str]:
    told = places(entry)
    found = told or [(at, "") for at in range(min(2, len(row["records"])))]
    lines = []
    is_private = _masked_by_wish(folder) and not (rules.terms or rules.patterns)
    logs = None if is_private else _logs(folder, sources_of(folder, [row]), source)
    mask = _masker(logs, row, rules) if logs is not None else str
    for at, path in found[:MOST_PLACES]:
        record = row["records"][at]
        lines.append(
            f"  record      {record['file']} line {record['line']},"
            f" bytes {record['start']}-{record['end']} {path}".rstrip()
        )
        if logs is None or not told:
            continue
        try:
            value = logs.value(record)
            text = text_of(resolve(value, path) if path else value)
        except LookupError:
            if source is not None:
                what = "the log has nothing at that place: it is another, or was changed"
                raise UnreadableInput(f"{source.name}: {what}; verify tells more") from None
            lines.append("  (the log has nothing at that place)")
            continue
        more = "" if len(text) <= LONGEST else f"\n… {len(text) - LONGEST} more characters"
        lines.append(_indented(mask(text)[:LONGEST] + more))
    if left := len(found[MOST_PLACES:]):
        lines.append(f"  … and {counted(left, 'more place')}, all in evidence.jsonl")
    if is_private and told:
        lines.append("  (give the --redact- options that the trace was made with to see its text)")
    elif logs is None and told:
        lines.append("  (name the log with --source to see its text)")
    return lines


def _masked_by_wish(folder: Path) -> bool:
    """Whether texts of the user's own were masked in a trace."""
    manifest = folder / "manifest.json"
    match json_of(manifest) if manifest.is_file() else None:
        case {"redaction": {"TERM": _}}:
            return True
    return False


def _masker(logs: Logs, row: Json, rules: Rules) -> Callable[[str], str]:
    """Masks with what the whole logs teach, not one record alone."""
    masker = masker_of(rules)
    for name in {str(record["file"]) for record in row["records"]}:
        learn_log(masker, logs.source(name))
        for line in logs.whole(name).decode("utf-8", "replace").split("\n"):
            masker.learn(line)
    masker.seal()
    return masker.mask


def _logs(folder: Path, sources: Mapping[str, int | None], source: Path | None) -> Logs | None:
    """The log that was named, or one of that name beside the trace or in the working directory."""
    if source is not None:
        return Logs(source, sources)
    name = next(iter(sources), "")
    if not name or "/" in name or "\\" in name or name.startswith("."):
        return None
    for place in (folder.resolve().parent, Path.cwd()):
        if (place / name).is_file():
            return Logs(place / name, sources)
    return None


def found_problems(folder: Path) -> list[Problem]:
    """Everything wrong with a trace folder, or with a trace.json alone."""
    if folder.is_file():
        return problems(json_of(folder))
    evidence, manifest = folder / "evidence.jsonl", folder / "manifest.json"
    return problems(
        json_of(folder / "trace.json"),
        evidence=json_lines(evidence) if evidence.is_file() else None,
        manifest=json_of(manifest) if manifest.is_file() else None,
    )
