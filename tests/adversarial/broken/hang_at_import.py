"""Never finishes being imported, and keeps a core busy meanwhile."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = timeout
while True:
    pass
