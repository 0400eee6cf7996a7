"""Commands, run in this process."""

from click.testing import CliRunner, Result

from forsy_retrace.cli import main


def run(*words: object) -> Result:
    """One command; an exception that no user can act on is raised."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def refused(code: int, *words: object) -> str:
    """The one line with which a command is refused."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith("forsy-retrace: ")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1
    return done.stderr
