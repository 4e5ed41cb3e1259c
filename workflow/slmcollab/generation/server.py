"""The backend that asks OpenAI-compatible servers: one endpoint per slot, many requests at a time."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2

from slmcollab.generation.requests import LENGTH, STOP, Decoding, Request, Response

_BUSY = (429, 502, 503, 504)  # answers that ask for patience
_NO_ROOM = "context length"  # what a server says of a prompt that leaves no room for the budget
_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


@dataclass(frozen=True)
class Endpoint:
    """Where a slot's model answers: url is the server's, without /v1; model is its name there."""

    url: str
    model: str


class ServerBackend:
    """See `requests.Backend`; a server's own batching may change rounding, and so, now and then, a token.

    endpoints: one for each slot. concurrency: requests under way at most. retries: how often a request is sent again
    after a connection failed or a server was busy, with pauses of `pause_s` seconds that double. timeout_s: for one
    response. extra: fields of every request besides those of the OpenAI API.
    """

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        *,
        concurrency: int,
        retries: int = 3,
        pause_s: float = 1.0,
        timeout_s: float = 600.0,
        extra: Mapping[str, Any] = _THINKING,
    ) -> None:
        self._endpoints, self._concurrency = dict(endpoints), concurrency
        self._retries, self._pause_s, self._timeout_s, self._extra = retries, pause_s, timeout_s, dict(extra)

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> list[Response]:
        """Return the responses in the order of the requests; `output_ids` are None.

        Raises ValueError for a slot without an endpoint, ConnectionError where a server cannot be reached after all
        tries, and RuntimeError where it refuses or answers something else; both name its URL.
        """
        foreign = sorted({request.slot for request in requests} - self._endpoints.keys())
        if foreign:
            raise ValueError(f"slot {foreign[0]!r} is not one of {', '.join(self._endpoints)}")
        limits = httpx2.Limits(max_connections=self._concurrency)
        # trust_env: a proxy that the environment names would be asked for servers on this machine.
        with (
            httpx2.Client(timeout=self._timeout_s, limits=limits, trust_env=False) as client,
            ThreadPoolExecutor(self._concurrency) as pool,
        ):
            waiting = [pool.submit(self._respond, client, request, decoding) for request in requests]
            try:
                return [future.result() for future in waiting]
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _respond(self, client: httpx2.Client, request: Request, decoding: Decoding) -> Response:
        endpoint = self._endpoints[request.slot]
        url = f"{endpoint.url.rstrip('/')}/v1/chat/completions"
        body = {
            "model": endpoint.model,
            "messages": list(request.messages),
            "seed": request.seed,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "max_tokens": decoding.max_new_tokens,
            **self._extra,
        }
        answer = self._post(client, url, body)
        if _lacks_room(answer):  # without a budget of ours a server takes what room there is
            del body["max_tokens"]
            answer = self._post(client, url, body)
            if _lacks_room(answer):
                return Response(text="", prompt_tokens=0, output_tokens=0, finish_reason=LENGTH)
        if answer.status_code != httpx2.codes.OK:
            raise RuntimeError(
                f"{url}: answered {answer.status_code} for model {endpoint.model!r}: {answer.text[:500]}"
            )
        try:
            return _read(answer.json())
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise RuntimeError(f"{url}: not a chat completion ({error!r}): {answer.text[:500]}") from error

    def _post(self, client: httpx2.Client, url: str, body: dict[str, Any]) -> httpx2.Response:
        """Return what the server answered, the last of its answers where it stays busy."""
        for tried in range(self._retries + 1):
            try:
                answer = client.post(url, json=body)
                if answer.status_code not in _BUSY or tried == self._retries:
                    return answer
            except httpx2.TransportError as error:
                if tried == self._retries:
                    raise ConnectionError(f"{url}: no answer in {tried + 1} tries ({error!r})") from error
            time.sleep(self._pause_s * 2**tried)
        raise ValueError(f"retries {self._retries}: 0 or more")


def _lacks_room(answer: httpx2.Response) -> bool:
    return answer.status_code == httpx2.codes.BAD_REQUEST and _NO_ROOM in answer.text.lower()


def _read(answer: dict[str, Any]) -> Response:
    choice, usage = answer["choices"][0], answer["usage"]
    content = choice["message"].get("content") or ""
    return Response(
        text=content.encode("utf-8", "replace").decode(),  # JSON can spell halves of characters, no file holds them
        prompt_tokens=int(usage["prompt_tokens"]),
        output_tokens=int(usage["completion_tokens"]),
        finish_reason=LENGTH if choice["finish_reason"] == "length" else STOP,
    )
