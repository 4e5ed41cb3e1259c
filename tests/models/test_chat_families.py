"""Prompts of the model families that the paper's teams are made of, in short templates that behave as theirs do."""

from datetime import datetime

import pytest
import transformers.utils.chat_template_utils as library
from characters import make_tokenizer

from slmcollab.benchmarks.prompts import ask
from slmcollab.experts.features import fit_prompts
from slmcollab.models import chat

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "1 + 1?"}
REPLY, AGAIN = {"role": "assistant", "content": "2"}, {"role": "user", "content": "2 + 2?"}

# Without a system text it writes one of its own.
QWEN = (
    "{% if messages[0].role == 'system' %}<|im_start|>system\n{{ messages[0].content }}<|im_end|>\n{% else %}"
    "<|im_start|>system\nYou are Qwen.<|im_end|>\n{% endif %}"
    "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Today's date, unless it is given one; the system text is trimmed and stands behind the date.
LLAMA = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}"
    "{%- if messages[0].role == 'system' %}{%- set system = messages[0].content | trim %}"
    "{%- set messages = messages[1:] %}{%- else %}{%- set system = '' %}{%- endif %}"
    "{{- '<|start_header_id|>system<|end_header_id|>\n\nToday Date: ' + date_string + '\n\n' + system + '<|eot_id|>' }}"
    "{%- for m in messages %}{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' }}"
    "{{- m.content | trim + '<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)
# The end of the text instead of the header where no answer is asked for.
PHI = (
    "{% for m in messages %}{% if m.role == 'system' and m.content %}{{ '<|system|>\n' + m.content + '<|end|>\n' }}"
    "{% else %}{{ '<|' + m.role + '|>\n' + m.content + '<|end|>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
# No system role, turns that alternate, `model` for the assistant.
GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' }}"
    "{{ m.content | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
# The system text stands in the last user turn; an older version has no system role. The answer follows [/INST].
MISTRAL = (
    "{%- if messages[0].role == 'system' %}{%- set system = messages[0].content %}{%- set messages = messages[1:] %}"
    "{%- endif %}{{- bos_token }}{%- for m in messages %}{%- if m.role == 'user' %}{{- '[INST] ' }}"
    "{%- if loop.last and system is defined %}{{- system + '\n\n' }}{%- endif %}{{- m.content + '[/INST]' }}"
    "{%- else %}{{- ' ' + m.content + eos_token }}{%- endif %}{%- endfor %}"
)
OLD_MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if m.role == 'user' %}{{ '[INST] ' + m.content + '[/INST]' }}{% else %}{{ ' ' + m.content + eos_token }}"
    "{% endif %}{% endfor %}"
)
# Harmony: a system message with today's date and the effort to think; the chat's system text is the developer's.
GPT_OSS = (
    "{%- macro build_system_message() -%}{{- 'You are ChatGPT.\nCurrent date: ' + strftime_now('%Y-%m-%d') + '\n\n' }}"
    "{%- if reasoning_effort is not defined %}{%- set reasoning_effort = 'medium' %}{%- endif %}"
    "{{- 'Reasoning: ' + reasoning_effort + '\n\n' }}{{- '# Valid channels: analysis, commentary, final.' }}"
    "{%- endmacro -%}{{- '<|start|>system<|message|>' }}{{- build_system_message() }}{{- '<|end|>' }}"
    "{%- if messages[0].role in ('system', 'developer') %}"
    "{{- '<|start|>developer<|message|># Instructions\n\n' + messages[0].content + '\n\n<|end|>' }}"
    "{%- set messages = messages[1:] %}{%- endif %}"
    "{%- for m in messages %}{{- '<|start|>' + m.role + ('<|channel|>final' if m.role == 'assistant' else '') }}"
    "{{- '<|message|>' + m.content + '<|end|>' }}{%- endfor %}"
    "{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}"
)

IM, HEADERS, PHI_TAGS = ["<|im_start|>"], ["<|start_header_id|>", "<|end_header_id|>"], ["<|system|>", "<|user|>"]
HARMONY = ["<|start|>", "<|message|>", "<|channel|>"]
# family -> its tokenizer, and the prompt of SYSTEM and USER
FAMILIES = {
    "qwen2.5": (
        {"template": QWEN, "merged": IM, "bos": None, "eos": "<|im_end|>"},
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n1 + 1?<|im_end|>\n<|im_start|>assistant\n",
    ),
    "llama-3.2": (
        {"template": LLAMA, "merged": HEADERS, "bos": "<|begin_of_text|>", "eos": "<|eot_id|>", "adds_bos": True},
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday Date: 26 Jul 2024\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n1 + 1?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    "phi-3.5": (
        {"template": PHI, "merged": [*PHI_TAGS, "<|assistant|>", "<|end|>"], "eos": "<|endoftext|>"},
        "<|system|>\nBe brief.<|end|>\n<|user|>\n1 + 1?<|end|>\n<|assistant|>\n",
    ),
    "gemma-2": (
        {"template": GEMMA, "merged": ["<start_of_turn>"], "bos": "<bos>", "eos": "<end_of_turn>", "adds_bos": True},
        "<bos><start_of_turn>user\nBe brief.\n\n1 + 1?<end_of_turn>\n<start_of_turn>model\n",
    ),
    "mistral-v0.3": (
        {"template": MISTRAL, "merged": ["[INST]", "[/INST]"], "adds_bos": True},
        "<s>[INST] Be brief.\n\n1 + 1?[/INST]",
    ),
    "mistral-v0.3, older": (
        {"template": OLD_MISTRAL, "merged": ["[INST]", "[/INST]"], "adds_bos": True},
        "<s>[INST] Be brief.\n\n1 + 1?[/INST]",
    ),
    "gpt-oss": (
        {"template": GPT_OSS, "merged": HARMONY, "bos": "<|startoftext|>", "eos": "<|return|>"},
        "<|start|>system<|message|>You are ChatGPT.\nCurrent date: 2024-07-26\n\nReasoning: low\n\n"
        "# Valid channels: analysis, commentary, final.<|end|>"
        "<|start|>developer<|message|># Instructions\n\nBe brief.\n\n<|end|>"
        "<|start|>user<|message|>1 + 1?<|end|><|start|>assistant",
    ),
    "gpt2": ({"template": None, "bos": "<|endoftext|>", "eos": "<|endoftext|>"}, "Be brief.\n\n1 + 1?\n"),
    "gemma-3 base": ({"template": None, "bos": "<bos>", "adds_bos": True}, "<bos>Be brief.\n\n1 + 1?\n"),
}


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def tokenizer(family):
    return make_tokenizer(**FAMILIES[family][0], name=family)


def test_prompt(family, tokenizer):
    assert tokenizer.decode(chat.encode(tokenizer, [SYSTEM, USER])) == FAMILIES[family][1]


def test_the_prompt_opens_with_one_bos_where_the_family_has_one(family, tokenizer):
    ids = chat.encode(tokenizer, [SYSTEM, USER])
    opens = family in ("llama-3.2", "gemma-2", "mistral-v0.3", "mistral-v0.3, older", "gemma-3 base")
    assert [index for index, token in enumerate(ids) if token == tokenizer.bos_token_id] == ([0] if opens else [])


def test_nothing_of_the_real_system_text_is_lost_and_the_question_follows(tokenizer):
    system, user = ask("What is the least common multiple (LCM) of 4 and 6?")
    prompt = tokenizer.decode(chat.encode(tokenizer, [system, user]))
    before, _, after = prompt.partition(system["content"].strip())
    assert before != prompt
    assert user["content"] in after
    assert prompt.count(user["content"]) == 1


def test_a_longer_chat_keeps_the_system_text_ahead_of_the_first_question(family, tokenizer):
    prompt = tokenizer.decode(chat.encode(tokenizer, [SYSTEM, USER, REPLY, AGAIN]))
    places = [prompt.find(message["content"]) for message in (SYSTEM, USER, AGAIN)]
    assert -1 < places[0] < places[1] < places[2]


def test_the_prompt_does_not_move_with_the_clock(family, tokenizer, monkeypatch):
    class LeapDay(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2028, 2, 29, tzinfo=tz)

    monkeypatch.setattr(library, "datetime", LeapDay)
    assert tokenizer.decode(chat.encode(tokenizer, [SYSTEM, USER])) == FAMILIES[family][1]
    if family in ("llama-3.2", "gpt-oss"):  # the clock does reach a template that is left alone
        assert "2028" in tokenizer.apply_chat_template([USER], tokenize=False)


@pytest.mark.parametrize(("family", "own"), [("qwen2.5", "You are Qwen."), ("llama-3.2", "26 Jul 2024")])
def test_without_a_system_text_the_template_writes_its_own(family, own):
    tokenizer = make_tokenizer(**FAMILIES[family][0])
    assert own in tokenizer.decode(chat.encode(tokenizer, [USER]))


@pytest.mark.parametrize(
    ("family", "header"),
    [
        ("qwen2.5", "<|im_start|>assistant\n"),
        ("llama-3.2", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
        ("gemma-2", "<start_of_turn>model\n"),
        ("gpt-oss", "<|start|>assistant"),
        ("mistral-v0.3", ""),
        ("gpt2", ""),
    ],
)
def test_context_tokens_have_a_place_before_the_assistant_header(family, header):
    tokenizer = make_tokenizer(**FAMILIES[family][0])
    turn, rest = chat.encode_parts(tokenizer, [SYSTEM, USER])
    assert tokenizer.decode(rest) == header
    assert tokenizer.decode(turn + rest) == FAMILIES[family][1]


def test_phi_ends_a_turn_otherwise_when_no_answer_is_asked_for_and_says_so():
    tokenizer = make_tokenizer(**FAMILIES["phi-3.5"][0], name="phi-3.5")
    with pytest.raises(ValueError, match=r"phi-3\.5.*context_position: end"):
        chat.encode_parts(tokenizer, [SYSTEM, USER])


def test_gpt2_reads_the_end_of_a_prompt_longer_than_its_positions_and_the_cut_is_counted():
    tokenizer = make_tokenizer(**FAMILIES["gpt2"][0])
    lengths = (1023 - len("Be brief.\n\n"), 2000)
    prompts = [chat.encode(tokenizer, [SYSTEM, {"role": "user", "content": length * "x"}]) for length in lengths]
    fitted, cut = fit_prompts(prompts, ["a/0", "a/1"], limit=1024, overflow="truncate")
    assert (fitted[0], cut) == (prompts[0], [False, True])
    assert tokenizer.decode(fitted[1]) == 1023 * "x" + "\n"


MARKS = ["<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>"]
THOUGHT = "<|channel|>analysis<|message|>2 + 3, so 5<|end|><|start|>assistant"


@pytest.mark.parametrize(
    ("completion", "says"),
    [
        (f"{THOUGHT}<|channel|>final<|message|>5", "5"),
        (f"{THOUGHT}<|channel|>final <|constrain|>json<|message|>5<|return|>", "5"),
        ("<|channel|>final<|message|>4<|end|><|start|>assistant<|channel|>final<|message|>5", "5"),
        ("<|channel|>analysis<|message|>2 + 3 is", "2 + 3 is"),  # the budget ended while it thought
        ("<|channel|>analysis", ""),
        ("", ""),
    ],
)
def test_of_a_model_that_speaks_in_channels_the_final_message_counts(completion, says):
    tokenizer = make_tokenizer(None, merged=[*MARKS, "<|constrain|>"], eos="<|return|>")
    assert chat.spoken(tokenizer, tokenizer(completion, add_special_tokens=False).input_ids) == says


def test_of_any_other_model_the_whole_completion_counts():
    tokenizer = make_tokenizer(None)
    ids = tokenizer("final 5</s>", add_special_tokens=False).input_ids
    assert chat.spoken(tokenizer, ids) == "final 5"
