"""`snakemake --touch --forceall` that makes missing outputs and leaves out the 0.1 s of sleep that each job costs."""

import sys

from snakemake.cli import main
from snakemake.executors import touch

touch_outputs = touch.Executor.run_job


def make_outputs(executor, job):
    for file in job.output:
        file.touch_or_create()
    touch_outputs(executor, job)


touch.Executor.SLEEPING_TIME = 0
touch.Executor.run_job = make_outputs
main(["--touch", "--forceall", *sys.argv[1:]])
