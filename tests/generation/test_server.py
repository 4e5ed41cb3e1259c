"""The client against a stand-in that records what it is asked, and against `transformers serve` with a tiny model."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from teams import TOKENIZER, make_adapter, make_model

from slmcollab.artifacts import write_text
from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import LENGTH, STOP, Decoding, Member, Request, Response
from slmcollab.generation.server import Endpoint, ServerBackend
from slmcollab.generation.serving import _held_port, serving, serving_team, vllm_command
from slmcollab.models.chat import encode

SAMPLED = Decoding(12, 0.9, 0.95)
PATIENCE_S = 120.0  # for what takes a moment on a free machine


def ask(text, slot="a1", seed=0):
    return Request(slot, [{"role": "user", "content": text}], seed)


def completion(text, finish="stop"):
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}], "usage": usage}


@pytest.fixture
def stub():
    """Yield a server whose `answer` turns a body into (status, JSON or text); `bodies` are those that it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.bodies.append((self.path, body))
            status, answer = server.answer(body)
            content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.bodies, server.url = [], f"http://127.0.0.1:{server.server_address[1]}"
    server.answer = lambda body: (200, completion(body["messages"][0]["content"].upper()))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def client(url, **settings):
    return ServerBackend({"a1": Endpoint(url, "base")}, **{"concurrency": 4, "pause_s": 0.01, **settings})


def test_a_request_says_what_the_decoding_says_and_thinking_is_off(stub):
    assert client(stub.url + "/").generate([ask("x", seed=7)], SAMPLED) == [Response("X", 5, 3, STOP, None)]
    ((path, body),) = stub.bodies
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "base",
        "messages": [{"role": "user", "content": "x"}],
        "seed": 7,
        "temperature": 0.9,
        "top_p": 0.95,
        "max_tokens": 12,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_responses_come_in_the_order_of_the_requests_whatever_is_ready_first(stub):
    ready, another = [], threading.Event()

    def answer(body):
        if body["seed"] == 11:  # the first waits for one of the others
            another.wait(PATIENCE_S)
        ready.append(body["seed"])
        another.set()
        return 200, completion(str(body["seed"]))

    stub.answer = answer
    responses = client(stub.url).generate([ask("x", seed=seed) for seed in range(11, 0, -1)], SAMPLED)
    assert [response.text for response in responses] == [str(seed) for seed in range(11, 0, -1)]
    assert ready[0] != 11


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3)])
def test_so_many_requests_are_under_way_at_a_time(stub, concurrency, most):
    lock, under_way, seen = threading.Lock(), [], []
    together = threading.Barrier(most)  # passed only by so many at once

    def answer(body):
        with lock:
            under_way.append(body["seed"])
            seen.append(len(under_way))
        together.wait(PATIENCE_S)
        time.sleep(0.1)  # one too many would come in now
        with lock:
            under_way.remove(body["seed"])
        return 200, completion("x")

    stub.answer = answer
    client(stub.url, concurrency=concurrency).generate([ask("x", seed=seed) for seed in range(6)], SAMPLED)
    assert max(seen) == most


@pytest.mark.parametrize(
    ("message", "finish", "expected"), [("x", "length", LENGTH), (None, "stop", STOP), ("", "abort", STOP)]
)
def test_reasons_to_end_and_empty_messages(stub, message, finish, expected):
    stub.answer = lambda body: (200, completion(message, finish))
    (response,) = client(stub.url).generate([ask("x")], SAMPLED)
    assert (response.text, response.finish_reason) == (message or "", expected)


def test_a_busy_server_is_asked_again_and_a_refusal_is_not(stub):
    answers = iter([(503, "wait"), (429, "wait"), (200, completion("now"))])
    stub.answer = lambda body: next(answers)
    assert client(stub.url).generate([ask("x")], SAMPLED)[0].text == "now"
    assert len(stub.bodies) == 3
    stub.bodies.clear()
    stub.answer = lambda body: (404, "no such model")
    with pytest.raises(RuntimeError, match=rf"{stub.url}/v1/chat/completions: answered 404 for model 'base': no such"):
        client(stub.url).generate([ask("x")], SAMPLED)
    assert len(stub.bodies) == 1


def test_a_server_that_stays_busy_is_given_up_after_the_last_try(stub):
    stub.answer = lambda body: (503, "wait")
    with pytest.raises(RuntimeError, match="answered 503"):
        client(stub.url, retries=2).generate([ask("x")], SAMPLED)
    assert len(stub.bodies) == 3


def test_after_an_error_the_requests_that_wait_are_not_sent(stub, monkeypatch):
    given_up = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, **options):
            super().shutdown(wait=False, **options)
            given_up.set()
            super().shutdown(wait)

    def answer(body):
        if len(stub.bodies) > 1:  # this one was under way before anybody knew of the error
            given_up.wait(PATIENCE_S)
        return 500, "broken"

    monkeypatch.setattr("slmcollab.generation.server.ThreadPoolExecutor", Pool)
    stub.answer = answer
    with pytest.raises(RuntimeError, match="answered 500"):
        client(stub.url, concurrency=1).generate([ask("x") for _ in range(50)], SAMPLED)
    assert len(stub.bodies) <= 2


def test_halves_of_characters_are_replaced_so_that_what_was_said_can_be_written(stub, tmp_path):
    stub.answer = lambda body: (200, completion("a\ud800b \U0001f600"))
    (response,) = client(stub.url).generate([ask("x")], SAMPLED)
    assert response.text == "a?b \U0001f600"
    write_text(tmp_path / "said", response.text)
    assert (tmp_path / "said").read_text("utf-8") == response.text


@pytest.mark.parametrize(
    "answer",
    [
        *("<html>", {"choices": []}, {"choices": None}, {**completion("x"), "usage": None}, completion(["x"])),
        {**completion("x"), "choices": [{"message": None, "finish_reason": "stop"}]},
    ],
)
def test_what_is_no_chat_completion_names_the_url(stub, answer):
    stub.answer = lambda body: (200, answer)
    with pytest.raises(RuntimeError, match=f"{stub.url}/v1/chat/completions: not a chat completion"):
        client(stub.url).generate([ask("x")], SAMPLED)


def test_no_server_is_a_connection_error_that_names_the_url():
    with socket.socket() as silent:  # nobody else can listen there meanwhile
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=f"{url}/v1/chat/completions: no answer in 3 tries"):
            client(url, retries=2).generate([ask("x")], SAMPLED)


def test_a_prompt_with_less_room_than_the_budget_is_sent_without_one_and_one_without_room_is_empty(stub):
    refusal = 400, {"error": {"message": "This model's maximum context length is 96 tokens. However, you requested 99"}}
    stub.answer = lambda body: refusal if "max_tokens" in body else (200, completion("cut", "length"))
    assert client(stub.url).generate([ask("x")], SAMPLED) == [Response("cut", 5, 3, LENGTH)]
    stub.answer = lambda body: refusal
    assert client(stub.url).generate([ask("x")], SAMPLED) == [Response("", 0, 0, LENGTH)]


def test_a_slot_without_an_endpoint_is_refused(stub):
    with pytest.raises(ValueError, match="slot 'a2' is not one of a1"):
        client(stub.url).generate([ask("x", slot="a2")], SAMPLED)


HELPFUL = """
    import subprocess, sys, http.server
    subprocess.Popen([sys.executable, "-c", "import time, signal; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/v1/models" else 404)
            self.end_headers()
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def runs(pid):
    """Say whether a process is there; an orphan that has ended may stay a zombie for a while."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def left(pids):
    """Return those of the processes that do not end; one that was killed takes a moment to."""
    pids, end = list(pids), time.monotonic() + PATIENCE_S
    while (found := [pid for pid in pids if runs(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def program(text):
    return [sys.executable, "-c", textwrap.dedent(text), "{port}", "{model}"]


def test_a_server_is_stopped_with_the_processes_that_it_started(monkeypatch):
    monkeypatch.setattr("slmcollab.generation.serving._GRACE_S", 0.5)  # one of them ignores SIGTERM
    with serving(program(HELPFUL), Path("m"), ready_s=PATIENCE_S):
        family = psutil.Process().children(recursive=True)
    assert len(family) == 2
    assert left(process.pid for process in family) == []


def test_it_is_stopped_when_the_work_fails_and_sigterm_means_what_it_did():
    before, family = signal.getsignal(signal.SIGTERM), []

    def work():
        with serving(program(HELPFUL.replace("SIG_IGN", "SIG_DFL")), Path("m"), ready_s=PATIENCE_S):
            family.extend(psutil.Process().children(recursive=True))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert len(family) == 2
    assert left(process.pid for process in family) == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_job_that_is_told_to_end_stops_its_server(tmp_path):
    job = f"""
        from pathlib import Path
        import psutil, sys
        from slmcollab.generation.serving import serving
        with serving({program(HELPFUL.replace("SIG_IGN", "SIG_DFL"))!r}, Path("m"), ready_s={PATIENCE_S}):
            print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
            sys.stdin.read()
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}
    command = [sys.executable, "-c", textwrap.dedent(job)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as running:
        family = [int(pid) for pid in running.stdout.readline().split()]
        assert len(family) == 2
        running.terminate()
    assert running.returncode == 128 + signal.SIGTERM
    assert left(family) == []


def test_a_server_that_ends_before_it_is_up_is_quoted():
    text = "import sys; print('line 1'); sys.exit(f'no model {sys.argv[2]}')"
    message = r"(?s)status 1; its last.*no model m$"
    with pytest.raises(RuntimeError, match=message), serving(program(text), Path("m"), ready_s=PATIENCE_S):
        raise AssertionError("it is not up")
    assert psutil.Process().children() == []


def test_a_server_that_does_not_come_up_is_quoted(tmp_path, monkeypatch):
    said = tmp_path / "said"

    def answers(url):
        end = time.monotonic() + PATIENCE_S
        while not said.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return False

    monkeypatch.setattr("slmcollab.generation.serving._answers", answers)
    text = f"import pathlib, time; print('loading', flush=True); pathlib.Path({str(said)!r}).touch(); time.sleep(600)"
    message = r"silent after 0.1 s; its last lines:\nloading$"
    with pytest.raises(RuntimeError, match=message), serving(program(text), Path("m"), ready_s=0.1):
        raise AssertionError("it is not up")
    assert psutil.Process().children() == []


def test_no_other_job_is_given_the_port_while_a_server_starts_and_runs():
    taken = []

    def refuse(port):
        with socket.socket() as other, pytest.raises(OSError, match="Address already in use"):
            other.bind(("127.0.0.1", port))
        taken.append(port)

    with _held_port() as port, _held_port() as another:
        assert port != another
        refuse(port)  # while our server is not there yet
        with serving(program(HELPFUL.replace("SIG_IGN", "SIG_DFL")), Path("m"), ready_s=PATIENCE_S) as url:
            refuse(int(url.rpartition(":")[2]))
    assert len({*taken, another}) == 3
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))  # and then it is free again


def test_children_of_a_server_that_has_ended_are_stopped_too():
    child = 'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])'
    text = f"import subprocess, sys; sys.exit(str({child}.pid))"
    with pytest.raises(RuntimeError, match=r"status 1; its last lines:\n\d+$") as raised:
        serving(program(text), Path("m"), ready_s=PATIENCE_S).__enter__()
    assert left([int(str(raised.value).split()[-1])]) == []


def test_one_server_runs_for_each_folder_and_adapters_are_models_of_their_own():
    members = [
        Member("a1", "m", Path("m"), 0.1, Path("adapters/a1")),
        Member("a2", "n", Path("n"), 0.1),
        Member("a3", "m", Path("m"), 0.1),
    ]
    shared = []

    def command(sharing):
        shared.append([member.slot for member in sharing])
        return program(HELPFUL.replace("SIG_IGN", "SIG_DFL"))

    with serving_team(members, command, ready_s=PATIENCE_S) as endpoints:
        assert {slot: endpoint.model for slot, endpoint in endpoints.items()} == {"a1": "a1", "a2": "n", "a3": "m"}
        assert endpoints["a1"].url == endpoints["a3"].url != endpoints["a2"].url
        assert len(psutil.Process().children()) == 2
    assert shared == [["a1", "a3"], ["a2"]]
    assert psutil.Process().children() == []


def test_vllm_serves_a_models_adapters_by_the_names_of_their_slots(tmp_path):
    base = make_model(tmp_path / "base", "llama", seed=1)
    adapters = [make_adapter(tmp_path / name, base, seed=2, r=rank) for name, rank in (("x", 4), ("y", 12))]
    members = [Member("a1", "m", base, 0.1, adapters[0]), Member("a3", "m", base, 0.1, adapters[1])]
    command = vllm_command([*members, Member("a4", "m", base, 0.1)], dtype="bfloat16", memory_share=0.3)
    assert command[:7] == ["vllm", "serve", "{model}", "--host", "127.0.0.1", "--port", "{port}"]
    options = " ".join(command[7:])
    assert "--dtype bfloat16 --generation-config vllm --gpu-memory-utilization 0.3 " in options
    assert options.endswith(f"--max-loras 2 --max-lora-rank 16 --lora-modules a1={adapters[0]} a3={adapters[1]}")
    assert "lora" not in " ".join(vllm_command([Member("a4", "m", Path("m"), 0.1)], dtype="bfloat16"))


TRANSFORMERS = ["transformers", "serve", "{model}", "--host", "127.0.0.1", "--port", "{port}", "--device", "cpu"]


def test_transformers_serve_says_what_the_engine_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    command = [shutil.which("transformers", path=Path(sys.executable).parent), *TRANSFORMERS[1:]]
    members = [
        Member("a1", "toy", make_model(tmp_path / "first", "llama", seed=1), 0.1),
        Member("a2", "toy", make_model(tmp_path / "second", "llama", seed=2), 0.1),
    ]
    texts = ["What is 3 + 4?", "Reverse abc.", "b", "a b c d", "12"]
    requests = [ask(text, slot, seed=at) for at, text in enumerate(texts) for slot in ("a1", "a2")]
    local = LocalBackend(members, dtype="float32", resident="all", batch_size=8)
    with serving_team(members, lambda sharing: command, ready_s=600.0) as endpoints:
        family = psutil.Process().children(recursive=True)
        assert {slot: endpoint.model for slot, endpoint in endpoints.items()} == {
            member.slot: str(member.folder) for member in members
        }
        greedy = ServerBackend(endpoints, concurrency=4).generate(requests, Decoding(12, 0.0))
        # Its seed is a global of the server, so that only one request at a time has random numbers of its own.
        alone = ServerBackend(endpoints, concurrency=1)
        sampled = [alone.generate(each, SAMPLED) for each in (requests, requests, requests[::-1])]
    assert left(process.pid for process in family) == []
    assert len(family) >= 2
    for request, found, ours in zip(requests, greedy, local.generate(requests, Decoding(12, 0.0)), strict=True):
        assert (found.text, found.prompt_tokens) == (ours.text, len(encode(TOKENIZER, request.messages)))
        assert found.output_tokens == ours.output_tokens
        assert found.finish_reason == (LENGTH if ours.output_tokens == 12 else STOP)
        assert found.output_ids is None
    assert {response.finish_reason for response in greedy} == {STOP, LENGTH}
    assert sampled[0] == sampled[1] == sampled[2][::-1] != greedy
