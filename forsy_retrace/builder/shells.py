"""Which calls are lines of a shell, and in which one's language?"""

from typing import Any

from forsy_retrace.patterns import later

SHELLS: dict[str, str] = {
    "Bash": "bash",
    "PowerShell": "powershell",
    "shell": "bash",
    "exec_command": "bash",
    "local_shell": "bash",
    "container.exec": "bash",
    "shell_command": "bash",
    "command_execution": "bash",
    "CommandExecution": "bash",
    "run_terminal_cmd": "bash",
    "execute_command": "bash",
    "run_shell_command": "bash",
    "bash": "bash",
    "terminal": "bash",
    "sh": "bash",
    "zsh": "zsh",
    "fish": "fish",
    "nu": "nu",
    "powershell": "powershell",
    "pwsh": "powershell",
    "cmd": "cmd",
    "xonsh": "bash",
}
"""Tools whose argument is a command line, and in which shell's language; shells by their names."""
GIVES_A_LINE = ("-c", "-lc", "-command", "/c")
"""Behind these words a shell is given a whole line."""
ESCAPE = later(r"\s*(?:!{1,2}|%(?=(?:pip|conda|mamba)\s))([^!\n][^\n]*)\s*\Z")
"""A line that IPython and Jupyter hand to a shell."""
CELLS = ("python", "ipython")
RUNS_CODE = (*CELLS, "code_interpreter")
"""Tools whose argument is a program."""


def code_of(tool: str | None, sent: Any) -> str:
    """The program that a call runs; empty for any other call."""
    match sent:
        case str(code) | {"code": str(code)} if tool in RUNS_CODE:
            return code
    return ""


def command_of(tool: str | None, sent: Any) -> tuple[str, str] | None:
    """The command line of a shell call and its language; None for any other call."""
    if tool in CELLS and isinstance(sent, str) and (escape := ESCAPE.match(sent)):
        return escape[1], "bash"
    shell = SHELLS.get(tool or "")
    if shell is None:
        return None
    match sent:
        case {"command": str(line)} | {"cmd": str(line)}:
            return line, shell
        case {"keystrokes": str(line)}:  # typed into a terminal, with the line's end
            return line.removesuffix("\n"), shell
        case {"commands": [*lines]} if lines and all(isinstance(line, str) for line in lines):
            return "\n".join(lines), shell
        case {"command": [*words]} | {"cmd": [*words]} if words and all(
            isinstance(word, str) for word in words
        ):
            given = SHELLS.get(shell_name(words[0]))
            if given is not None and words[-2:-1] and words[-2].lower() in GIVES_A_LINE:
                return words[-1], given
            import shlex

            return shlex.join(words), shell
        case str():
            return sent, shell
    return None


def shell_name(program: str) -> str:
    """`powershell` for `C:\\Windows\\PowerShell.exe`."""
    return program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
