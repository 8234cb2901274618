@{runtime}@


class ModelNew(Model):
@if has_init@
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
@if adopted@
        # The outputs of each module that forward reads. The others are not computed.
        adopt(self, outputs={
@for module in adopted@
            "@{module.path}@": @{module.outputs}@,
@end@
        })
@end@
@if cell@
        # The cell as a layer over all steps. It takes the cell's parameters anew in every call. In a tuple, so that it is
        # no submodule and the state_dict stays as it is.
@if loop.kind == "RNN"@
        layer = HoneRNN(@{loop.input_size}@, @{loop.hidden_size}@, nonlinearity="@{loop.activation}@", bias=@{loop.bias}@, device="meta")
@else@
        layer = Hone@{loop.kind}@(@{loop.input_size}@, @{loop.hidden_size}@, bias=@{loop.bias}@, device="meta")
@end@
        layer.hone_cell = True
        self.hone_layer = (layer,)
@end@
@if loop@

@end@
@end@
@if loop@
@if cell@
    def hone_steps(self, x, state):
        """All steps of the loop over time: the outputs of every step, and the last state."""
        cell, layer = self.@{loop.input_layer}@, self.hone_layer[0]
        layer._flat_weights = [cell.weight_ih, cell.weight_hh]
@if loop.bias == "True"@
        layer._flat_weights += [cell.bias_ih, cell.bias_hh]
@end@
        layer.train(self.training)
@if loop.kind == "LSTM"@
        y, (h, c) = layer(x, (state[0].unsqueeze(0), state[1].unsqueeze(0)))
        last = (h[0], c[0])
@else@
        y, h = layer(x, state.unsqueeze(0))
        last = h[0]
@end@
@if loop.output_layer@
        head = self.@{loop.output_layer}@
        y = nn.functional.linear(y, head.weight, head.bias)  # hone: allow library-fallback
@end@
        return y, last
@else@
    def hone_steps(self, x, state):
        """All steps of the loop over time: the outputs of every step, and the last state."""
@if loop.form == "joined"@
        weight, b_x, b_h = self.@{loop.input_layer}@.weight, self.@{loop.input_layer}@.bias, None
@if loop.state_first@
        w_h, w_x = weight[:, :@{loop.hidden_size}@], weight[:, @{loop.hidden_size}@:]
@else@
        w_x, w_h = weight[:, :@{loop.input_size}@], weight[:, @{loop.input_size}@:]
@end@
@else@
        w_x, w_h = self.@{loop.input_layer}@.weight, self.@{loop.hidden_layer}@.weight
        b_x, b_h = self.@{loop.input_layer}@.bias, self.@{loop.hidden_layer}@.bias
@end@
@if loop.output_layer@
        head = self.@{loop.output_layer}@
        return elman(x, state, w_x, w_h, b_x, b_h, activation="@{loop.activation}@", head_weight=head.weight, head_bias=head.bias)
@else@
        return elman(x, state, w_x, w_h, b_x, b_h, activation="@{loop.activation}@")
@end@
@end@

    @{loop.forward}@
@end@
@if captured@

    # Outputs are left out in calls with arguments like these.
@if loop@
    forward = like_captured(forward, @{captured}@)
@else@
    forward = like_captured(Model.forward, @{captured}@)
@end@
@end@
