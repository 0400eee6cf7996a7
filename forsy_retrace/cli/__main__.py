"""`python -m forsy_retrace.cli`"""

from . import run

run()
