"""Ends the process with success while it is being imported."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = import-failed|crashed
import sys

sys.exit(0)
