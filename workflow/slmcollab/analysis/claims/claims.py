"""The claims of n-Musketeers in order."""

from slmcollab.analysis.claims import ablations, accuracy, capacity, context, preference, roles
from slmcollab.analysis.claims.verdicts import Claim

CLAIMS = (
    Claim("A1", "arithmetic: hidden states of experts beat the single model", accuracy.gain),
    Claim("A2", "hidden states vary more over seeds than the single model, larger teams most", accuracy.variance),
    Claim("A3", "algorithmic: within noise of the single model", accuracy.no_gain),
    Claim("A4", "logic and GSM8K: at or below the single model", accuracy.saturated),
    Claim("A5", "attention entropy falls monotonically over training", roles.entropy_falls),
    Claim("A6", "attention entropy and reward are negatively correlated over training", roles.entropy_and_reward),
    Claim("A7", "GPT-2, the naive expert, keeps the lowest share of attention", roles.naive_lowest),
    Claim("A8", "GPT-OSS, the large expert, takes the largest share where it is present", roles.large_highest),
    Claim("A9", "an expert's share grows with its hidden size and parameters", capacity.grows_with_size),
    Claim("A10", "the code expert is preferred to the math expert even on arithmetic", roles.code_above_math),
    Claim("A11", "reward with context tokens is above reward without, throughout training", context.throughout),
    Claim("A12", "logic: the prompt alone saturates at a lower reward", context.saturates_lower),
    Claim("A13", "first-token pooling is as good as last-token pooling", ablations.first_token),
    Claim("A14", "first or sampled layers are worse or unstable", ablations.shallow),
    Claim("A15", "a sampled token is competitive and more variable", ablations.sampled_token),
    Claim("A16", "m = 8 is best; larger m is worse and more variable", ablations.number_of_tokens),
    Claim("A17", "arithmetic: a static preference for experts; harder tasks: more focus", preference.static_preference),
    Claim("A18", "free prefix rows explain a substantial fraction of the gain", accuracy.prefix_fraction),
    Claim("A19", "features of another prompt fall to the controls without experts", accuracy.shuffled),
)
