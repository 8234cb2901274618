import torch

HONE_THREADS = @{threads}@


class ModelNew(Model):
    def forward(self, *inputs, **named):
        before = torch.get_num_threads()
        if before == HONE_THREADS:
            return super().forward(*inputs, **named)
        torch.set_num_threads(HONE_THREADS)
        try:
            return super().forward(*inputs, **named)
        finally:
            torch.set_num_threads(before)
