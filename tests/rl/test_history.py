"""The history file: what TRL logged, in the contract's columns, and blanks where nothing was measured."""

import csv

from slmcollab.artifacts import write_csv
from slmcollab.rl.history import history_rows

LOG = [
    {
        "step": 1,
        "reward": 0.1,
        "reward_without_context": 0.05,
        "frac_reward_zero_std": 0.5,
        "kl": 1e-7,
        "entropy": 0.3,
        "completions/mean_length": 4.5,
        "completions/clipped_ratio": 0.25,
        "share_unparsed": 1 / 3,
        "num_errors": 2.0,
        "num_timed_out": 1.0,
        "grad_norm": 0.7,
        "num_tokens": 1200.0,
        "step_time": 12.3,
        "attention_entropy": 0.69,
        "attention_entropy_prompt": 0.6,
        "attention_share/math": 0.4,
        "attention_share/string": 0.6,
    },
    {"step": 2, "reward": 0.2, "num_errors": 0.0, "num_timed_out": 0.0, "num_tokens": 2400.0},
    {"step": 2, "train_runtime": 9.0},
]


def test_columns_and_blanks(tmp_path):
    write_csv(tmp_path / "history.csv", history_rows(LOG))
    assert (tmp_path / "history.csv").read_text().split("\n") == [
        "step,reward,reward_without_context,frac_reward_zero_std,kl,entropy,completion_length,share_cut,share_unparsed,"
        "num_errors,num_timed_out,grad_norm,tokens,attention_entropy,attention_entropy_prompt,attention_share/math,"
        "attention_share/string",
        "1,0.1,0.05,0.5,1e-07,0.3,4.5,0.25,0.3333333333333333,2,1,0.7,1200,0.69,0.6,0.4,0.6",
        "2,0.2,,,,,,,,0,0,,2400,,,,",
        "",
    ]


def test_without_experts_there_are_no_attention_columns():
    bare = [{name: value for name, value in entry.items() if "attention" not in name} for entry in LOG]
    assert not any("attention" in column for row in history_rows(bare) for column in row)


def test_what_a_router_did_has_columns_of_its_own():
    routed = {"router_entropy": 1.0, "router_share/math": 0.25, "router_share/string": 0.75}
    (row,) = history_rows([LOG[1] | routed])
    assert {name: row[name] for name in row if name.startswith("router")} == routed


def test_numbers_are_read_back_to_the_bit(tmp_path):
    values = [0.1 + 0.2, 1 / 3, 2**-40, 1e300]
    counts = {"num_errors": 0.0, "num_timed_out": 0.0, "num_tokens": 1.0}
    log = [{"step": i, "reward": value, **counts} for i, value in enumerate(values)]
    write_csv(tmp_path / "history.csv", history_rows(log))
    with (tmp_path / "history.csv").open() as stream:
        assert [float(row["reward"]) for row in csv.DictReader(stream)] == values
