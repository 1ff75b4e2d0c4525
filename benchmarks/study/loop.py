"""A plain agent: a model, its tools, and nothing that steers it."""

from __future__ import annotations

from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from benchmarks.agents.meter import usage_of
from benchmarks.agents.model import Endpoint
from benchmarks.study.desk import Desk
from benchmarks.study.records import Trace, Work
from navigator.records.pricing import ModelPrice, TokenUsage

INSTRUCTION = """You are a software engineer with tools in a repository.
Change its code so that the request is fulfilled. Look before you change. Where you can run what you changed,
run it. Tests that are there may not be changed. When you are done, say so in a sentence without calling a
tool."""


async def run_loop(work: Work, endpoint: Endpoint, desk: Desk, price: ModelPrice) -> None:
    """Let the model call tools until it says that it is done, or a limit is reached."""
    model = endpoint.llm()
    beside = await desk.begin(work.goal)
    asked = [types.Part(text=text) for text in (work.goal, beside) if text]
    contents = [types.Content(role="user", parts=asked)]
    work.trace = Trace([{"role": "user", "text": "\n\n".join(part.text or "" for part in asked)}])
    while not (failure := _limit_passed(work, price)):
        request = LlmRequest(model=model.model, contents=contents, config=_config(desk))
        answers = [each async for each in model.generate_content_async(request)]
        answer = answers[-1] if answers else LlmResponse()
        if answer.error_code:
            failure = f"{answer.error_code}: {answer.error_message}"[:300]
            break
        parts = (answer.content.parts if answer.content else None) or []
        calls = [part.function_call for part in parts if part.function_call]
        used = usage_of(answer.usage_metadata)
        events = [*work.trace.events, _event(parts, used)]
        work.trace = Trace(events, work.trace.usage.plus(used), desk.navigator_calls, desk.told)
        if not calls:
            return
        contents.append(types.Content(role="model", parts=parts))
        results = [(call, await desk.call(str(call.name), dict(call.args or {}))) for call in calls]
        events += [{"role": "tool", "name": call.name, "result": text} for call, text in results]
        contents.append(types.Content(role="user", parts=[_result(call, text) for call, text in results]))
        work.trace = work.trace._replace(navigator_calls=desk.navigator_calls, told=desk.told)
    work.trace = work.trace._replace(failure=failure)


def _limit_passed(work: Work, price: ModelPrice) -> str:
    """Say which limit an attempt has come to, ``""`` where none."""
    if work.trace.usage.calls >= work.limits.calls:
        return f"no end within {work.limits.calls} calls"
    if float(price.cost(work.trace.usage)) >= work.limits.usd:
        return f"no end within ${work.limits.usd:.2f}"
    return ""


def _config(desk: Desk) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(
        system_instruction="\n\n".join(filter(None, (INSTRUCTION, desk.instructions))),
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
