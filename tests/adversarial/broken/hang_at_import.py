"""Never finishes being imported, and keeps a core busy meanwhile."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = timeout
# hone-test: timeout = 2
# hone-test: build_timeout = 10
while True:
    pass
