"""The example of the README: two prompts in one session, the progress as it streams.

    ACPD_ADDRESS=127.0.0.1:7420 python3 example.py
"""
import os

import grpc

from stubs import pb, pb_grpc


def chat(acpd, **request):
    session_id = ""
    for event in acpd.ChatStream(pb.ChatStreamRequest(chat=pb.ChatRequest(**request))):
        kind = event.WhichOneof("event")
        if kind == "chat_accepted":
            session_id = event.chat_accepted.response.session_id
        elif kind == "session_update":
            print(event.session_update.text, end="", flush=True)
        elif kind == "turn_ended":
            print(f"\n[{pb.TurnResult.Outcome.Name(event.turn_ended.result.outcome)}]")
    return session_id


with grpc.insecure_channel(os.environ.get("ACPD_ADDRESS", "127.0.0.1:7420")) as channel:
    service = pb_grpc.SessionServiceStub(channel)
    session = chat(service, project_id="shop", prompt="remember the number 42")
    chat(service, project_id="shop", session_id=session, prompt="what number did I say?")
