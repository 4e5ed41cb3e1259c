"""Snakemake that asks SLURM twice a second, and not after a minute: what takes days on a cluster takes seconds here."""

import asyncio
import sys

import snakemake_executor_plugin_slurm
from snakemake.cli import main


async def sleep(_: snakemake_executor_plugin_slurm.Executor) -> None:
    await asyncio.sleep(0.5)


snakemake_executor_plugin_slurm.Executor.sleep = sleep
sys.exit(main())
