"""The claims of slices in order."""

from slmcollab.analysis.claims.verdicts import Claim
from slmcollab.analysis.slices_claims import behaviour, controls, efficiency, performance, retained

CLAIMS = (
    Claim("B1", "CL is above Qwen3-14B on ten of ten metrics, by 2.38 points on average", performance.above_single),
    Claim("B2", "CL is above SE-RL on eight of ten metrics", performance.above_se_rl),
    Claim("B3", "CL is above Homo. MAS on ten of ten metrics", performance.above_homo_mas),
    Claim("B4", "CL is above Homo. CL on ten of ten metrics, by 6.02 points on average", performance.above_homo_cl),
    Claim("B5", "CL is above each MAS and MARL row on average, by 2.08 to 6.87 points", performance.above_frameworks),
    Claim("B6", "without training, distillation or step scores every metric falls", performance.ablations),
    Claim("B7", "CL needs 39.1 to 84.8 % fewer invocations than the MAS rows", efficiency.fewer_than_frameworks),
    Claim("B8", "CL needs 46.7 to 86.0 % fewer invocations than the MARL rows", efficiency.fewer_than_marl),
    Claim("B9", "CL has the fewest weighted tokens on four of five benchmarks", efficiency.fewest_tokens),
    Claim("B10", "reasoning repeats less of what it was handed after training", efficiency.overlap_falls),
    Claim("B11", "CL's retention of right answers ranks 3rd, 2nd, 1st and 1st", retained.retention_ranks),
    Claim("B12", "long linear trajectories: more on MuSiQue, fewer on MultiPL-E", behaviour.long_linear),
    Claim("B13", "short cyclic trajectories: shorter on GSM-Hard, longer on MATH", behaviour.short_cyclic),
    Claim("B14", "training divides the labour between the middle and the largest slice", behaviour.divided_labour),
    Claim("B15", "without distillation: better first answers, fewer corrections", behaviour.without_distillation),
    Claim("B16", "without step scores: more steps, fewer corrections", behaviour.without_step_scores),
    Claim("B17", "code: more of MBPP and fewer of HumanEval solved than SE-RL", controls.code_sources),
    Claim("B18", "heterogeneity beats homogeneity at equal training", performance.heterogeneous),
    Claim("B19", "ours: step scores add to refinement beyond both controls", controls.step_scores),
)
