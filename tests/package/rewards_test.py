"""hone.rewards with a real server: the client, the shaping, and the functions that verl, OpenRLHF and verifiers call.

The server uses the fake judge of tests/fakes/fake_judge.py; tests/end_to_end/judge_service_test.py uses the real one.
"""

import argparse
import asyncio
import doctest
import importlib.util
import inspect
import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from judge_clients import CANDIDATE, TOKEN, JudgeServer, judged  # noqa: E402

import hone.rewards  # noqa: E402
from hone.rewards import Client, JudgeUnavailable, Shaping, _shaping, reward  # noqa: E402

HONE = ""
# The fake judge finds CANDIDATE right and faster: 1.5x, at least 1.4x.
FAST = 1.0 + 0.5 * 0.4854268271702417


def reply(name, orders=""):
    return "Let me think.\n```python\n%s%s```\nThis should be fast." % (CANDIDATE % name, "# fake: %s\n" % orders if orders else "")


def load_by_path(name):
    """Loads a reward function from its file, as trainers do."""
    spec = importlib.util.spec_from_file_location("custom_module_" + name, ROOT / "python" / "hone" / "rewards" / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Rewards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hone-rewards-")
        cls.log = os.path.join(cls.folder.name, "judged")
        env = {k: v for k, v in os.environ.items() if not k.startswith("HONE_JUDGE")}
        cls.server = JudgeServer(HONE, {**env, "HONE_DATA": os.path.join(cls.folder.name, "data"), "FAKE_JUDGE_LOG": cls.log}, "--workers", 2, "--sessions", 2,
                                 "--allow-task-source", "--queue", 4)
        os.environ["HONE_JUDGE_URL"], os.environ["HONE_JUDGE_TOKEN"] = cls.server.url, TOKEN

    @classmethod
    def tearDownClass(cls):
        code, err = cls.server.stop()
        cls.folder.cleanup()
        assert code == 0 and "a bug in hone" not in err, err[-400:]

    def test_client(self):
        client = Client()
        job = client.evaluate(task="small_softmax", candidate=CANDIDATE % "client")
        self.assertEqual((job["state"], job["result"]["stage"]), ("done", "faster"))
        self.assertEqual(client.job(job["id"])["verdict"], job["verdict"])
        self.assertEqual(client.wait(client.submit(task="small_softmax", candidate=CANDIDATE % "client")["id"])["id"], job["id"])
        self.assertIn(job["id"], [each["id"] for each in client.jobs(state="done")])
        self.assertEqual(client.cancel(job["id"])["state"], "done")
        # More than the queue holds: the client waits after a 429.
        jobs = client.evaluate_many([{"task": "small_softmax", "reply": reply("many %d" % i, "sleep=0.02")} for i in range(30)], at_once=16)
        self.assertEqual([each["state"] for each in jobs], ["done"] * 30)
        self.assertEqual(max(judged(self.log).values()), 1)

    def test_mistakes(self):
        with self.assertRaisesRegex(hone.HoneError, "no task no_such_task"):
            Client().evaluate(task="no_such_task", candidate="x")
        with self.assertRaisesRegex(hone.HoneError, "Bearer"):
            Client(token="wrong" * 6).evaluate(task="small_softmax", candidate="x")
        with self.assertRaisesRegex(hone.HoneError, "the stand-in refuses"):
            Client().evaluate(task="small_softmax", reply=reply("refused", "refuse=invalid"))
        with self.assertRaisesRegex(JudgeUnavailable, "tried 3 times"):
            Client().evaluate(task="small_softmax", reply=reply("dies", "die"))
        with self.assertRaisesRegex(hone.HoneError, "http://HOST:PORT, not '127.0.0.1:9'"):
            Client("127.0.0.1:9", token="t")
        with self.assertRaisesRegex(JudgeUnavailable, "could not be asked"):
            Client("http://127.0.0.1:9", timeout=0.1).evaluate(task="small_softmax", candidate="x")
        saved = os.environ.pop("HONE_JUDGE_TOKEN")
        with self.assertRaisesRegex(hone.HoneError, "HONE_JUDGE_TOKEN"):
            Client()
        os.environ["HONE_JUDGE_TOKEN"] = saved

    def test_shaping_rises_with_every_stage(self):
        self.assertEqual(doctest.testmod(_shaping).failed, 0)
        base = {"has_code": True, "cheat": False, "builds": True, "runs": True, "correct": True, "verdict": "accepted"}
        stages = [{**base, "cheat": True}, {**base, "has_code": False}, {**base, "builds": False, "runs": False, "correct": False}, {**base, "runs": False, "correct": False},
                  {**base, "correct": False, "trials_right": 0.0}, {**base, "correct": False, "trials_right": 0.9}, {**base, "ci95": [0.3, 0.5], "verdict": "rejected"},
                  {**base, "ci95": [0.9, 1.1], "verdict": "no_difference"}, {**base, "ci95": [1.5, 1.7]}, {**base, "ci95": [3.0, 3.1]}]
        values = [reward(each) for each in stages]
        self.assertEqual(values, sorted(set(values)))
        self.assertEqual(reward({**base, "ci95": [1e9, 1e9]}), 1.0 + 0.5 * 4)
        self.assertEqual(reward({**base, "ci95": [2.0, 3.0], "verdict": "inconclusive"}), 1.0)
        self.assertEqual(reward({**base, "correct": None}, Shaping(unknown=0.3)), 0.3)
        self.assertEqual(reward({**base, "builds": None, "runs": None, "correct": False}), 0.05)
        with self.assertRaises(ValueError):
            reward({"result": None})

    def test_verl(self):
        compute_score = load_by_path("verl").compute_score
        self.assertEqual(list(inspect.signature(compute_score).parameters)[:4], ["data_source", "solution_str", "ground_truth", "extra_info"])
        good = compute_score("kernels", reply("verl"), "small_softmax", extra_info={"index": 3})
        self.assertAlmostEqual(good["score"], FAST)
        self.assertEqual((good["acc"], good["vs_best"], good["cheat"]), (1.0, 1.5, 0.0))
        none = compute_score(data_source="kernels", solution_str="no code", ground_truth="small_softmax", shaping={"no_code": -0.25})
        self.assertEqual(none["score"], -0.25)
        self.assertEqual(set(none), set(good), "verl collects the same members of every sample")
        cheat = compute_score("kernels", reply("cheat", "verdict=rejected reason=timer-tampering"), "small_softmax")
        self.assertEqual((cheat["score"], cheat["cheat"]), (-1.0, 1.0))
        source = (ROOT / "tasks" / "small_softmax.py").read_text()
        self.assertAlmostEqual(compute_score("kernels", reply("verl"), "", {"task_source": source})["score"], FAST)
        self.assertAlmostEqual(compute_score("kernels", reply("verl"), source)["score"], FAST)
        with self.assertRaisesRegex(hone.HoneError, "names no task"):
            compute_score("kernels", reply("verl"), "")
        self.assertEqual(compute_score("kernels", reply("lost", "die"), "small_softmax", on_failure=0.0)["score"], 0.0)

    def test_openrlhf(self):
        import torch

        reward_func = load_by_path("openrlhf").reward_func
        prompt = "Make this faster: class ModelNew ...\n"
        replies = [reply("openrlhf"), "nothing", reply("wrong", "verdict=rejected reason=wrong-output")]
        answer = reward_func(queries=[prompt + each for each in replies], prompts=[prompt] * 3, labels=["small_softmax"] * 3, more="ignored")
        self.assertEqual(set(answer), {"rewards", "scores", "extra_logs"})
        self.assertTrue(torch.is_tensor(answer["rewards"]) and answer["rewards"].shape == (3,))
        self.assertAlmostEqual(answer["rewards"][0].item(), FAST, places=5)
        self.assertEqual(answer["rewards"][1].item(), 0.0)
        self.assertEqual(answer["scores"].tolist(), [1.0, 0.0, 0.0])
        self.assertTrue(all(each.shape == (3,) for each in answer["extra_logs"].values()))

    def test_verifiers(self):
        from hone.rewards import verifiers

        state = {}
        messages = [{"role": "user", "content": "class ModelNew"}, {"role": "assistant", "content": reply("verifiers")}]
        self.assertAlmostEqual(asyncio.run(verifiers.kernel_reward(messages, "small_softmax", state=state)), FAST)
        self.assertEqual(state["hone"]["correct"], 1.0)
        parts = [{"role": "assistant", "content": [{"type": "text", "text": reply("verifiers")}]}]
        self.assertAlmostEqual(asyncio.run(verifiers.kernel_reward(completion=parts, answer="", info={"task": "small_softmax"})), FAST)
        self.assertEqual(asyncio.run(verifiers.kernel_reward("words", "small_softmax", prompt=[], task="default")), 0.0)
        function = verifiers.make_reward(shaping={"no_code": -2.0})
        self.assertTrue(inspect.iscoroutinefunction(function) and function.__name__ == "kernel_reward")
        self.assertEqual(asyncio.run(function("words", answer="small_softmax", info={}, state={})), -2.0)

        # The library is not a dependency. A fake Rubric with the arguments of verifiers.Rubric shows what it receives.
        class Rubric:
            def __init__(self, funcs=None, weights=None, parser=None):
                self.funcs, self.weights = funcs, weights

        present = sys.modules.get("verifiers")
        sys.modules["verifiers"] = types.SimpleNamespace(Rubric=Rubric)
        try:
            rubric = verifiers.make_rubric(on_failure=0.0)
        finally:
            del sys.modules["verifiers"]
            if present:
                sys.modules["verifiers"] = present
        self.assertEqual((len(rubric.funcs), rubric.weights), (1, [1.0]))

    def test_one_client_for_many_threads(self):
        client, results = Client(), []
        threads = [threading.Thread(target=lambda i=i: results.append(client.evaluate(task="small_softmax", candidate=CANDIDATE % ("t%d" % (i % 3)))["id"])) for i in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(results), len(set(results))), (9, 3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    HONE = parser.parse_args().hone
    unittest.main(argv=sys.argv[:1])
