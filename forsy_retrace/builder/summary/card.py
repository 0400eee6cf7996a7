"""Words for the dataset card: a title, a description, tags."""

from forsy_retrace.events import SHELL
from forsy_retrace.sdk import Shows, a_log_of
from forsy_retrace.trace import Trace, counted, shortened

SHORTEST = 8
"""Characters of a first line that say by themselves what a task is."""


def title_of(trace: Trace) -> str:
    """The first line of the task, and the next where it only announces what follows."""
    lines = [line.strip() for line in trace.task.splitlines() if line.strip()] or ["Untitled"]
    line, below = lines[0], lines[1].lstrip("#-*> ") if len(lines) > 1 else ""
    if (line.endswith(":") or len(line) < SHORTEST) and below[:1].isalnum():
        line = f"{line} {below}"
    return shortened(line, 80)


def description_of(trace: Trace, shows: Shows) -> str:
    """What is in the trace and what such a log cannot show, in plain sentences."""
    calls = [s for s in trace.steps if s.call is not None]
    failed = sum(s.success is False for s in calls)
    retries = sum(s.retry_of is not None for s in trace.steps)
    told = f"{failed} of the calls failed or never ran"
    attempt = "attempts" if retries == 1 else "attempt"
    if calls and all(s.success is None for s in calls):
        told = "The log does not tell of any call whether it worked"
        attempt = "may attempt" if all(s.actor == SHELL for s in calls) else attempt
    humans = [s for s in trace.steps if s.action == "user_message"]
    judged = sum(s.feedback_type is not None for s in humans)
    parts = [
        f"Retraced from {a_log_of(shows.harness or trace.adapter, trace.agent_config['harness'])}:"
        f" {counted(len(trace.steps), 'step')}, {counted(len(calls), 'tool call')},"
        f" {counted(len(humans), 'human message')}.",
        f"{told}; {counted(retries, 'step')} {attempt} an earlier one again;"
        f" {counted(judged, 'message')} {'judges' if judged == 1 else 'judge'} the work.",
        f"It ended as {trace.termination_reason}.",
    ]
    cannot = [what for what in shows.cannot if what not in trace.facts.get("shown", ())]
    if cannot:
        parts.append(f"Such a log cannot show {'; '.join(cannot)}.")
    return " ".join(parts)


def tags_of(trace: Trace) -> tuple[str, ...]:
    surfaces = {step.surface for step in trace.steps}
    tags = ["agent-work-trace", "retraced"]
    if any(touch.kind in ("edit", "write") for touch in trace.touches):
        tags.append("coding")
    if any(step.call is not None for step in trace.steps):
        tags.append("tool-use")
    tags += [name for name in ("browser", "cli", "database", "search") if name in surfaces]
    again = ((step, trace.steps[step.retry_of - 1]) for step in trace.steps if step.retry_of)
    if any(old.success is False and step.success for step, old in again):
        tags.append("failure-recovery")
    return tuple(tags)
