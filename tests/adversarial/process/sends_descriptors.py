"""Sends two hundred open descriptors along with each of its answers, so that the parent runs out of them."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|escaped|crashed
# hone-test: timed = no
import array
import json
import os
import socket
import struct
import sys

import torch
import torch.nn as nn


def spread(wire):
    def send(self, message):
        text = json.dumps(message, default=str).encode()
        files = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
        frame = struct.pack("<4sIQ", b"HNE1", 0, len(text)) + text
        self._socket.sendmsg([frame[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
        self._socket.sendall(frame[1:])
        for one in files:
            os.close(one)

    wire.send = send


spread(sys.modules["hone_wire"].Wire)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.zeros(x.shape[0], self.linear.out_features)
