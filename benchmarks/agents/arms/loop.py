"""A plain agent: a model, a shell, and nothing that steers it."""

from __future__ import annotations

from typing import Any

from google.genai import Client, types
from google.genai.errors import APIError

from benchmarks.agents.arms.desk import Desk
from benchmarks.agents.arms.records import Trace, Work
from benchmarks.agents.meter import usage_of
from benchmarks.agents.model import Endpoint
from navigator.records.pricing import ModelPrice, TokenUsage

INSTRUCTION = """You are a software engineer with a shell in a repository.
Change its code so that the request is fulfilled. Look before you change, and run what you changed. Tests that
are there may not be changed. When you are done, say so in a sentence without calling a tool."""


async def run_loop(work: Work, endpoint: Endpoint, desk: Desk, price: ModelPrice) -> None:
    """Let the model call tools until it says that it is done, or a limit is reached."""
    client = Client(api_key=endpoint.key, http_options=types.HttpOptions(base_url=endpoint.url))
    contents = [types.Content(role="user", parts=[types.Part(text=work.goal)])]
    work.trace = Trace([{"role": "user", "text": work.goal}])
    while not (failure := _limit_passed(work, price)):
        try:
            answer = await client.aio.models.generate_content(
                model=endpoint.model, contents=contents, config=_config(desk)
            )
        except APIError as error:
            failure = f"{type(error).__name__}: {error}"
            break
        said = answer.candidates[0].content if answer.candidates else None
        parts = (said.parts if said else None) or []
        calls = [part.function_call for part in parts if part.function_call]
        used = usage_of(answer.usage_metadata)
        events = [*work.trace.events, _event(parts, used)]
        work.trace = Trace(events, work.trace.usage.plus(used), desk.navigator_calls)
        if not calls:
            return
        contents.append(types.Content(role="model", parts=parts))
        results = [(call, await desk.call(str(call.name), dict(call.args or {}))) for call in calls]
        events += [{"role": "tool", "name": call.name, "result": text} for call, text in results]
        contents.append(types.Content(role="user", parts=[_result(call, text) for call, text in results]))
    work.trace = work.trace._replace(failure=failure, navigator_calls=desk.navigator_calls)


def _limit_passed(work: Work, price: ModelPrice) -> str:
    """Say which limit an attempt has come to, ``""`` where none."""
    if work.trace.usage.calls >= work.limits.calls:
        return f"no end within {work.limits.calls} calls"
    if float(price.cost(work.trace.usage)) >= work.limits.usd:
        return f"no end within ${work.limits.usd:.2f}"
    return ""


def _config(desk: Desk) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(
        system_instruction=INSTRUCTION,
        tools=[types.Tool(function_declarations=desk.declarations())],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def _event(parts: list[types.Part], usage: TokenUsage) -> dict[str, Any]:
    calls = [
        {"name": part.function_call.name, "args": part.function_call.args}
        for part in parts
        if part.function_call
    ]
    text = "".join(part.text or "" for part in parts)
    return {"role": "model", "text": text, "calls": calls, "usage": usage._asdict()}


def _result(call: types.FunctionCall, text: str) -> types.Part:
    return types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": text})
    )
