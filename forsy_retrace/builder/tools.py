"""What each harness's tools do: a table by name, then by the verb in the name of an MCP tool."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from forsy_retrace.commands import asks
from forsy_retrace.patterns import later

from .finishes import finish_of
from .rule import Rule
from .shells import SHELLS, command_of, shell_name

BY_TABLE = Rule("tool-table", "The harness's own tool, by the table of tools.")
PLANS = Rule("plan-file", "A file that plan mode keeps its plan in is written: a step of planning.")
SEES_SCREEN = Rule(
    "sees-the-screen",
    "The call has the screen shown, or waits, and touches nothing on it: `read`.",
)
LOOKS_ON = Rule("looks-on", "The call sends nothing to a command that runs on: `read`.")
LEAVES = Rule(
    "leaves-prompt", "The input leaves a program that takes one after another, `quit`: `other`."
)
ASKS = Rule(
    "sql-read",
    "All that a prompt of a database, or a tool that takes SQL, is given only asks: `read`.",
    0.95,
)
RUNS = Rule(
    "runs-sql",
    "The name of a tool says that it takes SQL, which does more than ask: `execute`.",
    0.8,
)
ADDS = Rule("patch-adds", "A patch that only adds files: `write`.")
DELETES = Rule("patch-deletes", "A patch that only deletes files: `execute`.")
REPLACES = Rule(
    "replaces-a-text",
    "A tool in no table is given a file, a text and another to put in its place: `edit`.",
    0.9,
)
UNKNOWN = Rule("unknown-tool", "A tool in no table: `other`.", 0.5)


class Kind(NamedTuple):
    """What a call does, on which surface, and how that is known."""

    operation: str
    surface: str
    rule: Rule = BY_TABLE


PLAN_EXITS = ("ExitPlanMode", "exit_plan_mode")
"""Tools that offer a plan to the user."""
AGENT_TOOLS = ("Task", "Agent")
"""Tools that start a subagent and bring its report."""

RECORDING = "terminal recording"
"""The call that stands for a recording in which no command can be told."""

TOOLS: dict[str, Kind] = {
    "Read": Kind("read", "file"),
    "NotebookRead": Kind("read", "file"),
    "view_image": Kind("read", "file"),
    "file_search": Kind("search", "file"),
    "LSP": Kind("search", "file"),
    "Glob": Kind("search", "file"),
    "Grep": Kind("search", "file"),
    "LS": Kind("search", "file"),
    "Write": Kind("write", "file"),
    "Edit": Kind("edit", "file"),
    "MultiEdit": Kind("edit", "file"),
    "NotebookEdit": Kind("edit", "file"),
    "apply_patch": Kind("edit", "file"),
    RECORDING: Kind("other", "cli"),
    "BashOutput": Kind("read", "cli"),
    "TaskOutput": Kind("read", "other_tool"),
    "AgentOutputTool": Kind("read", "other_tool"),
    "KillBash": Kind("execute", "cli"),
    "KillShell": Kind("execute", "cli"),
    "stop_bash": Kind("execute", "cli"),
    "stop_powershell": Kind("execute", "cli"),
    "list_bash": Kind("search", "cli"),
    "list_powershell": Kind("search", "cli"),
    "read_agent": Kind("read", "other_tool"),
    "list_agents": Kind("search", "other_tool"),
    "write_agent": Kind("other", "other_tool"),
    "report_intent": Kind("other", "other_tool"),
    "fetch_copilot_cli_documentation": Kind("read", "other_tool"),
    "TaskStop": Kind("execute", "other_tool"),
    "Task": Kind("other", "other_tool"),
    "Agent": Kind("other", "other_tool"),
    "Skill": Kind("other", "other_tool"),
    "SlashCommand": Kind("other", "other_tool"),
    "Workflow": Kind("other", "other_tool"),
    "Monitor": Kind("execute", "cli"),
    "TeamCreate": Kind("other", "other_tool"),
    "TeamDelete": Kind("other", "other_tool"),
    "CronCreate": Kind("other", "other_tool"),
    "CronDelete": Kind("other", "other_tool"),
    "CronList": Kind("search", "other_tool"),
    "ScheduleWakeup": Kind("other", "other_tool"),
    "RemoteTrigger": Kind("execute", "api"),
    "EnterWorktree": Kind("execute", "other_tool"),
    "ExitWorktree": Kind("execute", "other_tool"),
    "ProposeGoal": Kind("other", "other_tool"),
    "ProposeSkills": Kind("other", "other_tool"),
    "StructuredOutput": Kind("answer", "other_tool"),
    "think": Kind("analyze", "other_tool"),
    "sequentialthinking": Kind("analyze", "other_tool"),
    "TodoWrite": Kind("plan", "other_tool"),
    "TaskCreate": Kind("plan", "other_tool"),
    "TaskUpdate": Kind("plan", "other_tool"),
    "TaskList": Kind("plan", "other_tool"),
    "TaskGet": Kind("plan", "other_tool"),
    "update_plan": Kind("plan", "other_tool"),
    "plan_update": Kind("plan", "other_tool"),
    "todo_list": Kind("plan", "other_tool"),
    "file_change": Kind("edit", "file"),
    "FileChange": Kind("edit", "file"),
    "patch_apply": Kind("edit", "file"),
    "write_stdin": Kind("execute", "cli"),
    "exec": Kind("execute", "other_tool"),
    "codemode": Kind("execute", "other_tool"),
    "spawn_agent": Kind("other", "other_tool"),
    "wait": Kind("read", "other_tool"),
    "wait_agent": Kind("read", "other_tool"),
    "send_input": Kind("other", "other_tool"),
    "resume_agent": Kind("other", "other_tool"),
    "close_agent": Kind("other", "other_tool"),
    "tool_search": Kind("search", "other_tool"),
    "EnterPlanMode": Kind("plan", "other_tool"),
    "enter_plan_mode": Kind("plan", "other_tool"),
    "ExitPlanMode": Kind("plan", "other_tool"),
    "exit_plan_mode": Kind("plan", "other_tool"),
    "AskUserQuestion": Kind("ask_user", "messaging"),
    "request_user_input": Kind("ask_user", "messaging"),
    "request_user_input_async": Kind("ask_user", "messaging"),
    "SendMessage": Kind("other", "messaging"),
    "SendUserMessage": Kind("answer", "messaging"),
    "PushNotification": Kind("other", "messaging"),
    "ReadNotifications": Kind("read", "messaging"),
    "SendFeedback": Kind("other", "messaging"),
    "finish": Kind("answer", "messaging"),
    "WebFetch": Kind("read", "browser"),
    "WebSearch": Kind("search", "search"),
    "web_search": Kind("search", "search"),
    "ToolSearch": Kind("search", "other_tool"),
    "code_interpreter": Kind("execute", "other_tool"),
    "program": Kind("execute", "other_tool"),
    "computer": Kind("execute", "computer_use"),
    "image_generation": Kind("write", "other_tool"),
    "ListMcpResourcesTool": Kind("search", "mcp_resource"),
    "ReadMcpResourceDirTool": Kind("search", "mcp_resource"),
    "ReadMcpResourceTool": Kind("read", "mcp_resource"),
    "list_mcp_resources": Kind("search", "mcp_resource"),
    "read_mcp_resource": Kind("read", "mcp_resource"),
    "Artifact": Kind("write", "other_tool"),
    "ReportFindings": Kind("other", "other_tool"),
    "python": Kind("execute", "other_tool"),
    "ipython": Kind("execute", "other_tool"),
    "node": Kind("execute", "other_tool"),
    "repl": Kind("execute", "other_tool"),
    "psql": Kind("execute", "database"),
    "mysql": Kind("execute", "database"),
    "sqlite3": Kind("execute", "database"),
    "redis-cli": Kind("execute", "database"),
    "bio": Kind("write", "other_tool"),
    "dalle.text2im": Kind("write", "other_tool"),
    "t2uay3k.sj1i4kz": Kind("write", "other_tool"),
    "image_gen.text2im": Kind("write", "other_tool"),
    "image_gen.edit_image": Kind("edit", "other_tool"),
    "canmore.create_textdoc": Kind("write", "file"),
    "canmore.update_textdoc": Kind("edit", "file"),
    "canmore.comment_textdoc": Kind("other", "file"),
    "file_search.msearch": Kind("search", "file"),
    "web.search": Kind("search", "search"),
    "browser.search": Kind("search", "search"),
    "browser.open": Kind("read", "browser"),
    "browser.find": Kind("read", "browser"),
    "browser.click": Kind("read", "browser"),
    **{
        f"web_browser_{name}": Kind("read", "browser")
        for name in ("go", "click", "scroll", "forward", "back", "refresh")
    },
    **{
        f"browser_{name}": Kind("read", "browser")
        for name in (
            *("navigate", "click", "scroll", "go_back", "get_state", "get_content", "get_storage"),
            *("list_tabs", "switch_tab", "close_tab"),
        )
    },
    "browser_type": Kind("execute", "browser"),
    "browser_set_storage": Kind("execute", "browser"),
    "web_browser_type": Kind("execute", "browser"),
    "web_browser_type_submit": Kind("execute", "browser"),
    "container.open_image": Kind("read", "file"),
    "computer.do": Kind("execute", "computer_use"),
}

BROWSERS = later(r"(?i)browser|chrome|playwright|puppeteer|selenium")
COMPUTERS = later(r"(?i)computer[-_]?use|desktop")
RUNS_SQL = later(r"(?i)^(?!mcp__).*(?:\b|_)sql(?:\b|_)|^(?!mcp__).*[a-z](?-i:SQL|Sql)(?![a-z])")
"""A tool of no MCP server whose name says that it takes SQL."""
DATABASES = later(r"(?i)postgres|mysql|sqlite|database|supabase|bigquery|snowflake|mongo")

VERBS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    # An MCP tool's name tells what it does; the first row that matches counts.
    (
        "changes",
        later(r"(?i)(?:^|__|\.)(?:set|add|create|delete|remove|mark|move|send|post|start|stop)_"),
        "execute",
    ),
    (
        "searches",
        later(r"(?i)(?:^|[_-])(?:search|find|query|list|grep|lookup|resolve)"),
        "search",
    ),
    ("downloads", later(r"(?i)(?:^|[_-])(?:download|export)"), "download"),
    ("installs", later(r"(?i)(?:^|[_-])install"), "install"),
    (
        "reads",
        later(
            r"(?i)(?:^|[_-])(?:get|read|fetch|view|show|describe|snapshot|inspect|screenshot|take_screenshot"
            r"|console_messages|network_requests|status|logs|tabs(?!_(?:close|create|new|open|select))|docs)"
        ),
        "read",
    ),
    ("edits", later(r"(?i)(?:^|[_-])(?:edit|update|patch|replace|modify)(?:_|-|$)"), "edit"),
    ("writes", later(r"(?i)(?:^|[_-])(?:write|save)(?:_|-|$)"), "write"),
)

TAKES_IN = ("searches", "downloads", "reads")
"""The verbs that tell as much where nothing but a tool's name is known."""
BY_VERB = {
    name: Rule(
        f"mcp-verb-{name}",
        f"The name of an MCP tool, or of a custom GPT's action, says that it {name}: `{operation}`.",
        0.8,
    )
    for name, _, operation in VERBS
}
ACTS = Rule(
    "mcp-verb-acts",
    "An MCP tool, or such an action, whose name says none of these: `execute`.",
    0.8,
)
BY_BARE_VERB = {
    name: Rule(
        f"tool-verb-{name}",
        f"The name of a tool in no table begins with a verb that {name}: `{operation}`.",
        0.7,
    )
    for name, _, operation in VERBS
    if name in TAKES_IN
}
RULES = (
    *(BY_TABLE, PLANS, LOOKS_ON, SEES_SCREEN, LEAVES, ASKS, RUNS, ADDS, DELETES),
    *(*BY_VERB.values(), ACTS, *BY_BARE_VERB.values(), REPLACES, UNKNOWN),
)


DATABASE_PROMPTS = ("psql", "mysql", "sqlite3", "redis-cli")
PROMPTS = (*DATABASE_PROMPTS, "python", "ipython", "node", "repl")
"""Programs that take one input after another, and tell no more of it."""
LEAVING = later(r"(?i)\s*(?:(?:exit|quit)(?:\s*\(\s*\))?|\\q|\.exit|\.quit)\s*;?\s*")

TEXT_EDITORS = (
    *("str_replace_editor", "str_replace_based_edit_tool", "text_editor"),
    "text_editor_code_execution",
)
EDITOR_COMMANDS = {"view": "Read", "create": "Write", "str_replace": "Edit", "insert": "Edit"}
"""What the commands of the one tool with which many harnesses read and edit files work like."""

LOOKS = ("poll", "log", "list")
"""What a call may ask of a command that runs on without sending it anything."""

SEES = ("screenshot", "zoom", "cursor_position", "wait")
"""What a call may ask of a screen without touching anything on it."""

LOOKING = ("browser", "web", "web.run")
"""Tools that search or open pages, as their arguments say."""
ACTION = "__jit_plugin."
"""Between the host and the operation of a custom GPT's action."""

PATCHED = later(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.M)
KINDS_OF_PATCHES: dict[frozenset[str], Kind] = {
    frozenset(["Add"]): Kind("write", "file", ADDS),
    frozenset(["Delete"]): Kind("execute", "file", DELETES),
}
"""What a patch is that does but one thing to its files; any other edits."""

OF_ONE_FILE = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}
"""What a call of the Responses API's `apply_patch` does to its one file."""

PATCHERS = ("file_change", "FileChange", "patch_apply")
"""Calls of which the log holds what a patch did to each file, in words of the harness."""

PLAN_FILE = later(
    r"[/\\](?:\.claude|\.?opencode|\.gemini[/\\]tmp[/\\][^/\\]+[/\\][^/\\]+)[/\\]plans[/\\][^/\\]+\.md$"
)
"""Where Claude Code, OpenCode and Gemini CLI keep the plan that plan mode writes."""


def like(tool: str, sent: Any, said: Mapping[str, str], shell: str = "") -> str:
    """The tool of these tables that a call works like, by what its adapter `said`.

    A line without a shell's name is one of the session's `shell`, where the log tells it.
    """
    match sent:
        case {"command": str(command)} if tool in TEXT_EDITORS and command in EDITOR_COMMANDS:
            return EDITOR_COMMANDS[command]
    known, shell = said.get(tool, tool), shell_name(shell)
    match sent:
        case {"command": str()} | {"cmd": str()} if shell in SHELLS and known in SHELLS:
            return shell if SHELLS[known] != SHELLS[shell] else known
    return "Edit" if replaces_a_text(tool, sent, said) else known


def replaces_a_text(tool: str, sent: Any, said: Mapping[str, str]) -> bool:
    """Whether a call of a tool in no table is an edit, by its arguments."""
    tables = (said, TOOLS, SHELLS, TEXT_EDITORS)
    if any(tool in table for table in tables) or any(server_of(tool)):
        return False
    return path_of(sent) is not None and replacement_in(sent) is not None


def kind_of(tool: str, sent: Any) -> Kind | None:
    """What a call of a tool does; None for a shell, whose command must be read."""
    if finish_of(tool, sent) is not None:
        return TOOLS["finish"]
    patch, named = sent_patch(sent), one_file(sent) if tool == "apply_patch" else {}
    if patch or named:
        kinds = frozenset((named or files_of(patch)).values())
        return KINDS_OF_PATCHES.get(kinds, Kind("edit", "file"))
    if tool in SHELLS or command_of(tool, sent) is not None:
        return None
    if tool in ("Write", "Edit") and isinstance(sent, dict):
        path = path_of(sent)
        if path is not None and PLAN_FILE.search(path):
            return Kind("plan", "file", PLANS)
    match tool, sent:
        case "web_search", {"type": "open_page" | "find_in_page"}:
            return Kind("read", "browser")
        case "computer" | "computer.do", {"type": str(act)} | {"action": str(act)} if act in SEES:
            return TOOLS[tool]._replace(operation="read", rule=SEES_SCREEN)
        case "write_stdin", dict() if _only_looks(sent):
            return TOOLS[tool]._replace(operation="read", rule=LOOKS_ON)
        case _, str() if tool in PROMPTS and LEAVING.fullmatch(sent):
            return TOOLS[tool]._replace(operation="other", rule=LEAVES)
        case _, str() if tool in DATABASE_PROMPTS and asks(sent):
            return TOOLS[tool]._replace(operation="read", rule=ASKS)
        case _, {"query": str(sql)} | {"sql": str(sql)} if RUNS_SQL.search(tool):
            return (
                Kind("read", "database", ASKS) if asks(sql) else Kind("execute", "database", RUNS)
            )
    if tool in TOOLS:
        return TOOLS[tool]
    if tool in LOOKING:
        return _looking(sent)
    if ACTION in tool:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool.partition(ACTION)[2])
        return _by_verb(name, "api")
    if not any(server_of(tool)):
        return _by_its_verb(tool)
    kind = _mcp(tool)
    match server_of(tool)[1], sent:
        case "computer", {"action": str(act)} if act in SEES:
            return kind._replace(operation="read", rule=SEES_SCREEN)
    return kind


def _by_its_verb(tool: str) -> Kind:
    """A tool in no table: `get_weather` and `listOrders` begin with what they do."""
    verb, *_ = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).split("_")
    for rule, pattern, operation in VERBS:
        if rule in BY_BARE_VERB and pattern.search(f"{verb}_"):
            return Kind(operation, "other_tool", BY_BARE_VERB[rule])
    return Kind("other", "other_tool", UNKNOWN)


def _only_looks(sent: dict[str, Any]) -> bool:
    """Whether a call to a command that runs on sends it nothing."""
    return not sent.get("chars") and sent.get("action", "poll") in LOOKS


def _looking(sent: Any) -> Kind:
    """ChatGPT's browsers: `search("x")`, `click(1)`, or an object of lists of such commands."""
    if isinstance(sent, dict):
        searches = any(key.endswith("query") for key in sent)
    else:
        searches = str(sent).lstrip().startswith("search")
    return Kind("search", "search") if searches else Kind("read", "browser")


def server_of(tool: str) -> tuple[str, str]:
    """The MCP server of a tool, and the tool's own name there; both empty for any other tool.

    `calculator__add` alone says nothing of a server: NeMo so names the functions of a group.
    """
    if not tool.startswith("mcp__") or tool in TOOLS:
        return "", ""
    server, _, name = tool.removeprefix("mcp__").partition("__")
    return server, name


def _mcp(tool: str) -> Kind:
    server, name = server_of(tool)
    surface = "mcp_tool"
    for pattern, place in (
        (BROWSERS, "browser"),
        (COMPUTERS, "computer_use"),
        (DATABASES, "database"),
    ):
        if pattern.search(server):
            surface = place
            break
    return _by_verb(name, surface)


def _by_verb(name: str, surface: str) -> Kind:
    for rule, pattern, operation in VERBS:
        if pattern.search(name):
            return Kind(operation, surface, BY_VERB[rule])
    return Kind("execute", surface, ACTS)


HOLDS_A_PATCH = frozenset(["input", "patch", "patchText", "command", "cmd", "diff"])
"""Arguments that may be one; to match a shape takes longer than to see that it has none of them."""


def sent_patch(sent: Any) -> str:
    """The patch that is a call's whole argument; empty for every other call.

    Models give it to a shell too, as if it were a command.
    """
    if isinstance(sent, dict) and HOLDS_A_PATCH.isdisjoint(sent):
        return ""
    match sent:
        case (
            str(text)
            | {"input": str(text)}
            | {"patch": str(text)}
            | {"patchText": str(text)}
            | {"command": str(text)}
            | {"command": ["apply_patch" | "applypatch", str(text)]}
            | {"command": [_, "-lc" | "-c", str(text)]}
            | {"cmd": str(text)}
        ) if text.lstrip()[:15] == "*** Begin Patch":
            return text
        case {"type": str(kind), "path": str(), "diff": str(diff)} if kind in OF_ONE_FILE:
            return diff
    return ""


def files_of(patch: str) -> dict[str, str]:
    """The files of a patch, and what it does to each: `Add`, `Update` or `Delete`."""
    return {path.strip(): kind for kind, path in PATCHED.findall(patch)}


def one_file(sent: Any) -> dict[str, str]:
    """The file of a patch that the arguments name, and what it does to it."""
    match sent:
        case {"type": str(kind), "path": str(path)} if kind in OF_ONE_FILE:
            return {path: OF_ONE_FILE[kind]}
    return {}


OF_A_FILE = ("file_path", "filePath", "notebook_path", "path")


def path_of(sent: Any) -> str | None:
    """The file that a call's arguments name as its target."""
    for name in OF_A_FILE if isinstance(sent, dict) else ():
        if isinstance(path := sent.get(name), str):
            return path
    return None


REPLACED_BY = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_str", "new_str"),
    ("search", "replace"),
)
"""The arguments that name a text, and the one to put in its place."""


def replacement_in(sent: Any) -> tuple[str, str] | None:
    """The text that arguments name, and the one to put in its place; None where they do not."""
    for before, after in REPLACED_BY if isinstance(sent, dict) else ():
        old, new = sent.get(before), sent.get(after)
        if isinstance(old, str) and isinstance(new, str):
            return old, new
    return None


def replaces_all(sent: Any) -> bool:
    """Whether an edit's arguments ask for every place at which the old text stands."""
    match sent:
        case {"replace_all": True} | {"replaceAll": True} | {"allow_multiple": True}:
            return True
        case {"edits": list(edits)}:
            return any(map(replaces_all, edits[:MOST_EDITS]))
    return False


MOST_EDITS = 100
"""Edits of one call that are looked at."""
