"""What readers of the papers know systems, models, benchmarks and metrics by."""

TITLES = {
    "qwen3_14b": "Qwen3-14B",
    "se_rl": "SE-RL",
    "homo_mas": "Homo. MAS",
    "homo_cl": "Homo. CL",
    "mad": "MAD",
    "agentverse": "AgentVerse",
    "aflow": "AFlow",
    "gptswarm": "GPTSwarm",
    "magrpo": "MAGRPO",
    "maporl": "MAPoRL",
    "at_grpo": "AT-GRPO",
    "at_grpo_more_rounds": "AT-GRPO, more rounds (ours)",
    "cl": "CL",
    "cl_no_training": "w/o CL",
    "cl_no_distillation": "w/o PD",
    "cl_no_step_scores": "w/o SLS",
    "cl_distilled": "distilled (ours)",
    "cl_constant_reward": "constant reward (ours)",
    "qwen3-1.7b": "Qwen3-1.7B",
    "qwen3-4b": "Qwen3-4B",
    "qwen3-8b": "Qwen3-8B",
    "qwen3-14b": "Qwen3-14B",
    "musique": "MuSiQue",
    "gsm_hard": "GSM-Hard",
    "math": "MATH",
    "multipl_e": "MultiPL-E",
    "conifer": "Conifer",
    "f1": "F1",
    "weighted": "weighted pass@1",
    "macro": "macro pass@1",
}


def title(name: str) -> str:
    """Return the printed title of a system, model, benchmark or metric, the name itself where the papers know none."""
    return TITLES.get(name, name)
