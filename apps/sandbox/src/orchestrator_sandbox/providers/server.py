"""Serve the doubles over loopback, and deliver each answer as well or as badly as it was scripted."""

import asyncio
import socket
from typing import Self, assert_never

from orchestrator_sandbox.listening import listening_socket, url_of
from orchestrator_sandbox.providers.control import PREFIX, ProviderControl
from orchestrator_sandbox.providers.journal import Call
from orchestrator_sandbox.providers.script import Mode, ScriptedAnswer
from orchestrator_sandbox.providers.wire import (
    HEAD_BYTES_MAX,
    Answer,
    Received,
    RequestUnreadable,
    json_answer,
    read_request,
)

DRIP_SECONDS = 0.05


class ProviderServer:
    """A running server of provider doubles; use it as an asynchronous context manager."""

    def __init__(self, listener: socket.socket | None = None) -> None:
        self._listener = listener or listening_socket("127.0.0.1", 0)
        self.url = url_of(self._listener)
        self._control = ProviderControl()
        self._conversations: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._converse, sock=self._listener, limit=HEAD_BYTES_MAX)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.current_task()
        if conversation is None:
            raise RuntimeError("A conversation runs as a task.")
        self._conversations.add(conversation)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.CancelledError):
            # The client has left, or the server is leaving: either way nobody waits for an answer.
            writer.transport.abort()
        finally:
            writer.close()
            self._conversations.discard(conversation)

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            request = await read_request(reader)
        except RequestUnreadable as error:
            await _write(writer, json_answer(400, {"error": "UNREADABLE", "detail": str(error)}))
            return False
        if request is None:
            return False
        if request.path.startswith(PREFIX):
            await _write(writer, await self._control.answer(request))
            return request.keeps_alive
        return await self._serve_call(request, writer) and request.keeps_alive

    async def _serve_call(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        template = self._control.doubles.template_of(request)
        call = self._control.journal.record(request, template)
        scripted = self._control.script.take(method=request.method, path=request.path, template=template)
        answer = self._answer(request, call, scripted or ScriptedAnswer())
        call.scripted = scripted is not None
        return await self._deliver(answer, scripted or ScriptedAnswer(), call, writer)

    def _answer(self, request: Received, call: Call, scripted: ScriptedAnswer) -> Answer:
        if not scripted.applies_effect:
            return scripted.over(json_answer(503, {"error": "NO_EFFECT"}))
        performed = self._control.doubles.perform(request)
        answer = scripted.over(performed.answer)
        call.effect_applied = performed.effect_applied
        if performed.effect_applied:
            self._control.doubles.remember(request, answer if answer.status < 400 else performed.answer)
        return answer

    async def _deliver(
        self, answer: Answer, scripted: ScriptedAnswer, call: Call, writer: asyncio.StreamWriter
    ) -> bool:
        """Send the answer in its mode, and tell whether the connection may be used again."""
        if scripted.mode is not Mode.DRIP:
            await asyncio.sleep(scripted.delay_seconds)
        match scripted.mode:
            case Mode.DROP_BEFORE_ANSWER | Mode.DROP_AFTER_EFFECT:
                writer.transport.abort()
                return False
            case Mode.HOLD:
                await self._control.journal.hold()
                await _write(writer, answer)
            case Mode.DRIP:
                await _drip(writer, answer, scripted.delay_seconds or DRIP_SECONDS)
            case Mode.TRUNCATED:
                await _send(writer, answer.head() + answer.body[: len(answer.body) // 2])
                call.status = answer.status
                return False
            case Mode.NORMAL:
                await _write(writer, answer)
            case _:
                assert_never(scripted.mode)
        call.status = answer.status
        return not _claims_another_length(answer)


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    await _send(writer, answer.head() + answer.body)


async def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(content)
    await writer.drain()


async def _drip(writer: asyncio.StreamWriter, answer: Answer, pause_seconds: float) -> None:
    await _send(writer, answer.head())
    for position in range(len(answer.body)):
        await asyncio.sleep(pause_seconds)
        await _send(writer, answer.body[position : position + 1])


def _claims_another_length(answer: Answer) -> bool:
    return "content-length" in {name.lower() for name in answer.headers}
