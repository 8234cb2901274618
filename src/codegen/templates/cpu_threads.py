import torch

HONE_THREADS = @{threads}@


class ModelNew(Model):
    def forward(self, *inputs, **named):
        # Set for the whole process and not reset: starting and ending threads in every call would cost more than it saves.
        if torch.get_num_threads() != HONE_THREADS:
            torch.set_num_threads(HONE_THREADS)
        return super().forward(*inputs, **named)
