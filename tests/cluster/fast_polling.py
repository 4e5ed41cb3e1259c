"""Snakemake that asks SLURM twice a second, and not after a minute: what takes days on a cluster takes seconds here."""

import asyncio
import signal
import sys

import snakemake_executor_plugin_slurm
from snakemake.cli import main


async def sleep(_: snakemake_executor_plugin_slurm.Executor) -> None:
    await asyncio.sleep(0.5)


def shutdown(executor: snakemake_executor_plugin_slurm.Executor) -> None:
    print("The executor shuts down.", flush=True)  # all that Snakemake cancels is cancelled by then
    end(executor)


end = snakemake_executor_plugin_slurm.Executor.shutdown
snakemake_executor_plugin_slurm.Executor.sleep = sleep
snakemake_executor_plugin_slurm.Executor.shutdown = shutdown
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run in the background of a shell
sys.exit(main())
