// Finds the recurrent parts of a task: nn.RNN, nn.GRU and nn.LSTM modules, their cells, and hand-written
// loops over time. The reference worker's facts give the shapes, the task's graph gives the use of each
// module's outputs (recurrent_graph.h), and the source gives the loops (time_loop.h). If only h_n is read,
// for example, a recipe need not write a sequence.
//
// Without a graph all outputs count as used, so a plan may request more than needed from a kernel, never
// less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "graph/graph.h"

namespace hone {

struct OutputsUsed {
  bool sequence = false;   // every step of the last layer
  bool last_step = false;  // the last step of the sequence; implied by `sequence`
  bool h_n = false;
  bool c_n = false;

  bool operator==(const OutputsUsed&) const = default;
  bool any() const { return sequence || last_step || h_n || c_n; }
};
// "sequence", "last step and h_n", "nothing".
std::string OutputsText(const OutputsUsed& used);

// The source of an initial state. Several may apply if calls differ, or for h and c.
struct StateSource {
  bool zeros = false;      // not given, None, or torch.zeros
  bool caller = false;     // an argument of forward
  bool attribute = false;  // kept in the module
  bool drawn = false;      // torch.randn and the like
  bool other = false;

  bool operator==(const StateSource&) const = default;
  std::string Text() const;
};

struct RecurrentModule {
  std::string path;  // "encoder.rnn"
  std::string kind;  // "RNN", "GRU" or "LSTM"
  bool cell = false;
  std::string nonlinearity;  // "tanh" or "relu"; "" for gated kinds
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  int64_t proj_size = 0;
  std::string dtype;
  int64_t calls = 0;                 // calls in one forward, counted by the worker
  std::vector<int64_t> input_shape;  // of the first call; empty if none was seen
  bool packed_input = false;         // the input is a PackedSequence

  OutputsUsed used;
  // Outputs that some operation reads, even if its result is unused (a head on an output that is then
  // dropped), so they must exist. `last_step` without `sequence`: one step is enough, whatever the length.
  OutputsUsed touched;
  std::string why_untraced;  // why the graph lacks calls; then all outputs count as used
  StateSource state;

  bool unbatched() const { return input_shape.size() == (cell ? 1u : 2u); }
  int64_t steps() const;
  int64_t batch() const;
};

// `for t in range(steps): h = act(layer(cat(x[t], h))); outputs.append(head(h))` and similar loops.
struct TimeLoop {
  std::string form;  // "joined": one Linear on cat(x, h); "split": Linear(x) + Linear(h); "cell": an nn.*Cell
  std::string loop_variable;  // "t", or the step itself in `for x_t in x`
  std::string sequence;       // the name that the loop iterates over
  int64_t time_axis = 0;      // axis of `sequence`
  bool state_first = false;   // joined as cat(h, x)
  std::string input_layer;    // attribute path; the only layer for "joined" and "cell"
  std::string hidden_layer;   // for "split"
  std::string activation;     // "tanh" or "relu"; "" for cells
  std::string state;          // "hidden" or "self.hidden"
  std::string cell_state;     // c of an LSTMCell
  bool state_attribute = false;
  StateSource state_source;
  std::string outputs;       // the list of outputs; "" if only the state is used
  std::string output_layer;  // Linear before the append; "" if h itself is appended
  int64_t stack_axis = 0;    // axis of torch.stack(outputs)
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t output_size = 0;
  bool bias = true;
  std::string forward_owner;  // the class whose forward contains the loop

  // Byte ranges in the task's source, for a recipe that rewrites `forward`.
  struct Range {
    uint32_t start = 0;
    uint32_t end = 0;
  };
  Range function;
  Range loop;
  std::vector<Range> stacks;
  std::optional<Range> list_init;
};

struct RecurrentPlan {
  bool recognised = false;
  std::string why_not;   // one sentence if nothing was recognised
  std::string sentence;  // "6-layer GRU, 128 -> 256, sequence first; only the output sequence is used"
  std::vector<RecurrentModule> modules;
  std::optional<TimeLoop> loop;
  std::string loop_why_not;  // why a loop over time was not recognised
};

// `facts` come from the reference worker: "recurrent_modules" and "module_list". The graph is read unless
// `why_no_graph` is set.
Result<RecurrentPlan> RecognizeRecurrent(const std::string& task_source, const Json& facts,
                                         const graph::Graph* graph, const std::string& why_no_graph);

Json ToJson(const RecurrentPlan& plan);

}  // namespace hone
