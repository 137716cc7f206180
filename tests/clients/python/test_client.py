"""A Python client drives acpd. Run by deploy/test, or:

    ACPD_BIN_DIR=build/dev/bin /usr/bin/python3 -m unittest discover -s tests/clients/python
"""
import os
import pathlib
import subprocess
import sys
import unittest

import grpc

from daemon import Daemon
from stubs import pb, pb_grpc


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.channel = grpc.insecure_channel(cls.daemon.address)
        cls.addClassCleanup(cls.channel.close)
        cls.acpd = pb_grpc.SessionServiceStub(cls.channel)

    def chat(self, wait_for=pb.WAIT_FOR_FINISHED, **request):
        request.setdefault("project_id", "python")
        return self.acpd.Chat(pb.ChatRequest(wait_for=wait_for, **request), timeout=30)

    def read(self, **request):
        return list(self.acpd.SubscribeProgress(pb.SubscribeProgressRequest(**request), timeout=30))

    def test_chat_goes_on_in_its_session_also_after_its_worker_has_gone(self):
        first = self.chat(prompt="remember the number 42")
        self.assertEqual(first.origin.kind, pb.SessionOrigin.KIND_NEW)
        self.assertEqual(first.state, pb.TURN_STATE_ENDED)
        self.assertEqual(first.result.outcome, pb.TurnResult.OUTCOME_COMPLETED)

        live = self.chat(session_id=first.session_id, prompt="what number did I say?")
        self.assertEqual(live.origin.kind, pb.SessionOrigin.KIND_LIVE)
        self.assertIn("42", live.result.text)

        closed = self.acpd.CloseSession(pb.CloseSessionRequest(session_id=first.session_id), timeout=30)
        self.assertEqual(closed.state, pb.Session.STATE_DORMANT)
        resumed = self.chat(session_id=first.session_id, prompt="what number did I say?")
        self.assertEqual(resumed.origin.kind, pb.SessionOrigin.KIND_RESUMED)
        self.assertEqual(resumed.session_id, first.session_id)
        self.assertIn("42", resumed.result.text)

    def test_subscribe_with_a_cursor_gives_the_rest_of_the_log(self):
        turn = self.chat(prompt="SLOW 5 10")
        events = self.read(session_id=turn.session_id, after_seq=0, replay_only=True)
        self.assertEqual(events[0].WhichOneof("event"), "subscription_started")
        self.assertEqual(events[-1].WhichOneof("event"), "caught_up")
        stored = [e for e in events if e.seq]
        self.assertEqual([e.seq for e in stored], list(range(1, len(stored) + 1)))
        self.assertEqual(stored[-1].WhichOneof("event"), "turn_ended")
        text = "".join(e.session_update.text for e in stored
                       if e.session_update.kind == "agent_message_chunk")
        self.assertEqual(text, turn.result.text)

        middle = stored[len(stored) // 2]
        rest = self.read(session_id=turn.session_id, after_position=middle.position,
                         epoch=events[0].subscription_started.epoch, replay_only=True)
        self.assertEqual([e for e in rest if e.seq], [e for e in stored if e.seq > middle.seq])

    def test_cancel_stops_a_slow_turn_and_the_session_goes_on(self):
        turn = self.chat(prompt="SLOW 10000 10", wait_for=pb.WAIT_FOR_STARTED)
        self.assertEqual(turn.state, pb.TURN_STATE_RUNNING)
        answer, ends = None, []
        for event in self.acpd.SubscribeProgress(pb.SubscribeProgressRequest(
                session_id=turn.session_id, after_position=turn.after_position,
                until_turn_id=turn.turn_id), timeout=30):
            # Once the agent has said something, so that a running turn is cancelled.
            if event.session_update.text and answer is None:
                answer = self.acpd.Cancel.future(
                    pb.CancelRequest(session_id=turn.session_id, reason="enough"), timeout=30)
            if event.WhichOneof("event") == "turn_ended":
                ends.append(event.turn_ended.result)
        self.assertIsNotNone(answer)
        self.assertEqual(answer.result().outcome, pb.CancelResponse.OUTCOME_CANCELLED)
        self.assertEqual([e.outcome for e in ends], [pb.TurnResult.OUTCOME_CANCELLED])
        self.assertEqual(ends[0].cancel_reason, "enough")

        following = self.chat(session_id=turn.session_id, prompt="still there")
        self.assertEqual(following.result.outcome, pb.TurnResult.OUTCOME_COMPLETED)
        self.assertEqual(following.session_id, turn.session_id)

    def test_a_bad_request_is_refused_with_a_reason_and_changes_nothing(self):
        before = self.acpd.ListSessions(pb.ListSessionsRequest(), timeout=30).sessions
        with self.assertRaises(grpc.RpcError) as raised:
            self.chat(project_id="../x", prompt="hi")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        reason = dict(raised.exception.trailing_metadata())["acpd-reason"]
        self.assertEqual(reason, "INVALID_PROJECT_ID")
        after = self.acpd.ListSessions(pb.ListSessionsRequest(), timeout=30).sessions
        self.assertEqual([s.session_id for s in after], [s.session_id for s in before])

    def test_the_example_of_the_readme_runs(self):
        example = pathlib.Path(__file__).with_name("example.py")
        output = subprocess.run(
            [sys.executable, "-B", example], env={**os.environ, "ACPD_ADDRESS": self.daemon.address},
            check=True, capture_output=True, text=True, timeout=60).stdout
        answers = output.split("[OUTCOME_COMPLETED]")
        self.assertEqual(len(answers), 3, output)
        self.assertIn("42", answers[1])
