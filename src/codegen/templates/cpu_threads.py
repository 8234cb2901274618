import torch

HONE_THREADS = @{threads}@


class ModelNew(Model):
    def forward(self, *inputs, **named):
        # Set for the whole process and left so: threads that come and go with every call cost more than they save.
        if torch.get_num_threads() != HONE_THREADS:
            torch.set_num_threads(HONE_THREADS)
        return super().forward(*inputs, **named)
