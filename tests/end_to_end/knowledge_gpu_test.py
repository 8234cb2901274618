"""Tests the complete examples in the prompts' knowledge pages on a GPU: every page's example in CUDA and in Triton against float64, on even and
odd shapes, with other weights than the default ones.

Usage: knowledge_gpu_test.py [--only WORD]
Exit code 1 when an example is wrong, 77 without torch or a GPU.
"""

import argparse
import sys
import tempfile
import traceback

import torch_python

torch_python.need_torch()
import torch

import knowledge_house


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        return 77
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for page in knowledge_house.PAGES:
            for target in ("triton", "cuda"):
                if options.only not in page + " " + target:
                    continue
                try:
                    wrong = knowledge_house.failures(page, target, knowledge_house.load(page, target, folder), "cuda")
                except Exception:
                    wrong = ["%s, %s: %s" % (page, target, traceback.format_exc())]
                print("%-12s%-8s%s" % (page, target, "FAILED" if wrong else "ok"), flush=True)
                found += wrong
    print("\n".join(found) or "every example is right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
