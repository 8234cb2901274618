// What is recurrent in a task: nn.RNN, nn.GRU and nn.LSTM modules and their cells, and hand-written loops
// over time. The shapes come from the reference worker's facts; what becomes of each module's outputs comes
// from the task's graph (recurrent_graph.h); loops over time come from the source (time_loop.h). A recipe
// that knows that only h_n is read need not write a sequence.
//
// Without a graph all outputs count as used: a plan may ask a kernel for too much, never for too little.
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

// Where an initial state comes from; several when calls differ, or h and c.
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
  int64_t calls = 0;                 // in one forward, counted by the worker
  std::vector<int64_t> input_shape;  // of the first call; empty: not seen
  bool packed_input = false;         // a PackedSequence was given

  OutputsUsed used;
  // What some operation looks at, whether or not its result is used (a head on an output that is then
  // dropped): it has to be there. `last_step` without `sequence`: one step is enough, whatever the length.
  OutputsUsed touched;
  std::string why_untraced;  // the graph does not show every call: all outputs count as used
  StateSource state;

  bool unbatched() const { return input_shape.size() == (cell ? 1u : 2u); }
  int64_t steps() const;
  int64_t batch() const;
};

// `for t in range(steps): h = act(layer(cat(x[t], h))); outputs.append(head(h))` and its relatives.
struct TimeLoop {
  std::string form;  // "joined": one Linear on cat(x, h); "split": Linear(x) + Linear(h); "cell": an nn.*Cell
  std::string loop_variable;  // "t", or the step itself in `for x_t in x`
  std::string sequence;       // the name that is walked through
  int64_t time_axis = 0;      // of `sequence`
  bool state_first = false;   // joined as cat(h, x)
  std::string input_layer;    // attribute paths; for "joined" and "cell" the one layer
  std::string hidden_layer;   // of "split"
  std::string activation;     // "tanh" or "relu"; "" for cells
  std::string state;          // "hidden" or "self.hidden"
  std::string cell_state;     // c of an LSTMCell
  bool state_attribute = false;
  StateSource state_source;
  std::string outputs;       // the list that is appended to; "" when only the state is used
  std::string output_layer;  // Linear applied before the append; "" when h itself is appended
  int64_t stack_axis = 0;    // of torch.stack(outputs)
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t output_size = 0;
  bool bias = true;
  std::string forward_owner;  // the class whose forward holds the loop

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
  std::string why_not;   // one sentence, when not recognised
  std::string sentence;  // "6-layer GRU, 128 -> 256, sequence first; only the output sequence is used"
  std::vector<RecurrentModule> modules;
  std::optional<TimeLoop> loop;
  std::string loop_why_not;  // there is a loop over time, and why it was not taken
};

// `facts` is what the reference worker reported: "recurrent_modules" and "module_list". The
// graph is read unless `why_no_graph` says why not.
Result<RecurrentPlan> RecognizeRecurrent(const std::string& task_source, const Json& facts,
                                         const graph::Graph* graph, const std::string& why_no_graph);

Json ToJson(const RecurrentPlan& plan);

}  // namespace hone
