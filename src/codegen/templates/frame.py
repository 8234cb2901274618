"""@{title}@

@{about}@

Recipe @{recipe}@, written by Hone @{version}@ from the task @{task.name}@ (sha256 @{task.sha256}@...).
The first part is the task's own source; ModelNew at the end takes Model's place: same constructor, same state_dict.
Run this file to check the two against each other.
@if task.docstring@

The task: @{task.docstring}@
@end@
"""
@{task.text}@


@{code}@


if __name__ == "__main__":
    hone_device = "@{device}@"
    hone_init = get_init_inputs() if "get_init_inputs" in globals() else []
    hone_pair = []
    for hone_class in (Model, ModelNew):
        torch.manual_seed(0)
        hone_made = hone_class(**hone_init) if isinstance(hone_init, dict) else hone_class(*hone_init)
        hone_pair.append(hone_made.to(hone_device).eval())
    hone_pair[1].load_state_dict(hone_pair[0].state_dict())
    hone_inputs = [v.to(hone_device) if isinstance(v, torch.Tensor) else v for v in get_inputs()]
    hone_outputs = []
    with torch.no_grad():
        for hone_made in hone_pair:
            torch.manual_seed(1)
            hone_out = hone_made(*hone_inputs)
            hone_outputs.append([v for v in (hone_out if isinstance(hone_out, (tuple, list)) else [hone_out])])
    for hone_number, (hone_expected, hone_got) in enumerate(zip(*hone_outputs)):
        hone_error = (hone_got.double() - hone_expected.double()).norm() / hone_expected.double().norm().clamp_min(1e-30)
        print("output %d %s: relative difference to Model %.2e" % (hone_number, tuple(hone_got.shape), float(hone_error)))
