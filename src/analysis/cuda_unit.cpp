#include "analysis/cuda_unit.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

std::string_view FunctionName(const SyntaxNode* definition) {
  const SyntaxNode* at = definition->Field("declarator");
  while (at != nullptr && at->Field("declarator") != nullptr) at = at->Field("declarator");
  return at != nullptr ? at->text : std::string_view();
}

bool HasQualifier(const SyntaxNode* definition, std::string_view qualifier) {
  for (const SyntaxNode* child = definition->first_child; child != nullptr; child = child->next) {
    if (child->text == qualifier) return true;
    if (child->Is("compound_statement")) return false;
  }
  return false;
}

bool IsInLoop(const SyntaxNode* node, const SyntaxNode* root) {
  for (const SyntaxNode* at = node->parent; at != nullptr && at != root; at = at->parent)
    if (at->Is("for_statement") || at->Is("while_statement") || at->Is("do_statement")) return true;
  return false;
}

bool IsLoop(const SyntaxNode* node) {
  return node->Is("for_statement") || node->Is("while_statement") || node->Is("do_statement") ||
         node->Is("for_range_loop");
}

const SyntaxNode* SubscriptBase(const SyntaxNode* subscript) {
  const SyntaxNode* base = subscript;
  while (base != nullptr && base->Is("subscript_expression")) base = base->Field("argument");
  return base;
}

// Whether the outermost subscript is the left side of an assignment.
bool IsWritten(const SyntaxNode* subscript, bool* also_read) {
  const SyntaxNode* parent = subscript->parent;
  if (parent == nullptr) return false;
  if (parent->Is("assignment_expression") && parent->Field("left") == subscript) {
    const SyntaxNode* op = parent->Field("operator");
    *also_read = op != nullptr && op->text != "=";
    return true;
  }
  if (parent->Is("update_expression")) {
    *also_read = true;
    return true;
  }
  return false;
}

// Device functions with a cluster barrier: cluster.sync(), or the instruction itself.
std::set<std::string_view> ClusterBarriers(const SyntaxNode* root) {
  std::set<std::string_view> names;
  for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root))
    if (node->Is("function_definition") && HasQualifier(node, "__device__") &&
        (Contains(node->text, "barrier.cluster.wait") || Contains(node->text, "cluster.sync(")))
      names.insert(FunctionName(node));
  return names;
}

class KernelReader {
 public:
  KernelReader(CudaKernel* kernel, const SyntaxNode* root, const std::set<std::string_view>& cluster_barriers)
      : kernel_(kernel), root_(root), cluster_barriers_(cluster_barriers) {}

  void Read() {
    for (const SyntaxNode* node = root_; node != nullptr; node = NextInDocument(node, root_)) {
      if (node->Is("declaration") && StartsWith(Trim(node->text), "__shared__")) ReadShared(node);
      if (node->Is("declaration") && StartsWith(Trim(node->text), "extern") &&
          Contains(node->text, "__shared__"))
        ReadShared(node);
    }
    Visit(root_, 0);
  }

 private:
  void ReadShared(const SyntaxNode* declaration) {
    if (Contains(declaration->text, "volatile")) kernel_->volatile_shared = true;
    for (const SyntaxNode* node = declaration; node != nullptr; node = NextInDocument(node, declaration)) {
      if (!node->Is("array_declarator")) continue;
      const SyntaxNode* name = node;
      while (name != nullptr && name->Is("array_declarator")) name = name->Field("declarator");
      if (name != nullptr && std::find(kernel_->shared_arrays.begin(), kernel_->shared_arrays.end(),
                                       name->text) == kernel_->shared_arrays.end())
        kernel_->shared_arrays.push_back(name->text);
    }
  }

  void AddAccess(const SyntaxNode* subscript) {
    const SyntaxNode* base = SubscriptBase(subscript);
    if (base == nullptr || !base->Is("identifier")) return;
    if (std::find(kernel_->shared_arrays.begin(), kernel_->shared_arrays.end(), base->text) ==
        kernel_->shared_arrays.end())
      return;
    SharedAccess access;
    access.node = subscript;
    access.statement = subscript;
    while (access.statement->parent != nullptr && !EndsWith(access.statement->type, "statement") &&
           !access.statement->Is("declaration"))
      access.statement = access.statement->parent;
    access.array = base->text;
    access.index = subscript->text.substr(base->text.size());
    bool also_read = false;
    const bool written = IsWritten(subscript, &also_read);
    if (!written || also_read) {
      access.is_write = false;
      kernel_->events.push_back({CudaEvent::Kind::kShared, access});
    }
    if (written) {
      access.is_write = true;
      kernel_->events.push_back({CudaEvent::Kind::kShared, access});
    }
  }

  void ReadCall(const SyntaxNode* node) {
    const SyntaxNode* function = node->Field("function");
    if (function == nullptr) return;
    const std::string_view name = function->text;
    const bool barrier = name == "__syncthreads" || name == "__syncwarp" ||
                         StartsWith(name, "__syncthreads_") || EndsWith(name, ".sync") ||
                         EndsWith(name, "->sync") || EndsWith(name, ".arrive_and_wait") ||
                         cluster_barriers_.count(name) != 0;
    if (barrier) {
      ++kernel_->barriers;
      if (Contains(name, "grid")) kernel_->grid_sync = true;
      if (Contains(name, "cluster") || cluster_barriers_.count(name) != 0) kernel_->cluster_sync = true;
      kernel_->events.push_back({CudaEvent::Kind::kBarrier, {}});
    }
    if (StartsWith(name, "atomic")) ++kernel_->atomics;
    if (Contains(name, "mma_sync") || Contains(name, "wmma")) ++kernel_->matrix_ops;
  }

  void Visit(const SyntaxNode* node, int depth) {
    if (depth > 400) return;
    const bool loop = IsLoop(node);
    if (loop) {
      kernel_->loops.push_back(node);
      const SyntaxNode* condition = node->Field("condition");
      kernel_->loop_conditions.push_back(condition != nullptr ? condition->text : std::string_view());
      kernel_->events.push_back({CudaEvent::Kind::kLoopBegin, {}});
    }
    if (node->Is("field_expression")) {
      if (node->text == "blockIdx.x") kernel_->block_axes[0] = true;
      if (node->text == "blockIdx.y") kernel_->block_axes[1] = true;
      if (node->text == "blockIdx.z") kernel_->block_axes[2] = true;
      if (StartsWith(node->text, "threadIdx.")) kernel_->uses_thread_index = true;
    }
    if (node->Is("assignment_expression")) {
      const SyntaxNode* right = node->Field("right");
      // The right side is evaluated before the left one is written.
      if (right != nullptr) Visit(right, depth + 1);
      if (const SyntaxNode* left = node->Field("left")) Visit(left, depth + 1);
    } else if (node->Is("subscript_expression")) {
      for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
        if (child->field != "argument" || !child->Is("subscript_expression")) Visit(child, depth + 1);
      if (node->parent == nullptr || !node->parent->Is("subscript_expression")) AddAccess(node);
    } else {
      for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
        Visit(child, depth + 1);
      if (node->Is("call_expression")) ReadCall(node);
    }
    if (loop) kernel_->events.push_back({CudaEvent::Kind::kLoopEnd, {}});
  }

  CudaKernel* kernel_;
  const SyntaxNode* root_;
  const std::set<std::string_view>& cluster_barriers_;
};

bool ParseInteger(std::string_view text, int64_t* value) {
  text = Trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// #define TILE 16, constexpr int TILE = 16, const int TILE = 16.
std::map<std::string_view, int64_t> IntegerConstants(const SyntaxNode* root) {
  std::map<std::string_view, int64_t> out;
  for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root)) {
    const SyntaxNode* name = nullptr;
    const SyntaxNode* value = nullptr;
    if (node->Is("preproc_def")) {
      name = node->Field("name");
      value = node->Field("value");
    } else if (node->Is("init_declarator") && node->parent != nullptr &&
               Contains(node->parent->text.substr(0, 40), "const")) {
      name = node->Field("declarator");
      value = node->Field("value");
    }
    int64_t number = 0;
    if (name != nullptr && value != nullptr && ParseInteger(value->text, &number)) out[name->text] = number;
  }
  return out;
}

int64_t Extent(const SyntaxNode* size, const std::map<std::string_view, int64_t>& constants, int depth) {
  if (size == nullptr || depth > 8) return 0;
  int64_t number = 0;
  if (ParseInteger(size->text, &number)) return number;
  if (const auto it = constants.find(size->text); it != constants.end()) return it->second;
  if (size->Is("parenthesized_expression")) return Extent(size->FirstNamed(), constants, depth + 1);
  if (!size->Is("binary_expression")) return 0;
  const int64_t left = Extent(size->Field("left"), constants, depth + 1);
  const int64_t right = Extent(size->Field("right"), constants, depth + 1);
  const SyntaxNode* op = size->Field("operator");
  if (op == nullptr || left <= 0 || right <= 0 || left > (1 << 24) || right > (1 << 24)) return 0;
  if (op->text == "*") return left * right;
  if (op->text == "+") return left + right;
  if (op->text == "-") return left - right;
  return 0;
}

int64_t StaticSharedBytes(const CudaKernel& kernel, const std::map<std::string_view, int64_t>& constants) {
  int64_t total = 0;
  const SyntaxNode* body = kernel.body;
  for (const SyntaxNode* node = body; node != nullptr; node = NextInDocument(node, body)) {
    if (!node->Is("declaration") || !StartsWith(Trim(node->text), "__shared__")) continue;
    int64_t bytes = 4;
    if (Contains(node->text, "double") || Contains(node->text, "float2")) bytes = 8;
    if (Contains(node->text, "half") || Contains(node->text, "bfloat16")) bytes = 2;
    for (const SyntaxNode* part = node; part != nullptr; part = NextInDocument(part, node)) {
      if (!part->Is("array_declarator") || (part->parent != nullptr && part->parent->Is("array_declarator")))
        continue;
      int64_t count = 1;
      for (const SyntaxNode* array = part; array != nullptr && array->Is("array_declarator");
           array = array->Field("declarator")) {
        const int64_t extent = Extent(array->Field("size"), constants, 0);
        if (__builtin_mul_overflow(count, std::clamp<int64_t>(extent, 0, 1 << 24), &count)) count = 0;
      }
      if (count < (int64_t{1} << 40)) total += count * bytes;
    }
  }
  return total;
}

// cudaLaunchCooperativeKernel((void*)kernel, grid, block, arguments, ...). Its arguments are an array of
// addresses, which is not followed.
void ReadApiLaunch(const SyntaxNode* call, const SyntaxNode* function, CudaUnit* unit) {
  const SyntaxNode* callee = call->Field("function");
  const SyntaxNode* arguments = call->Field("arguments");
  if (callee == nullptr || arguments == nullptr) return;
  const bool cooperative = callee->text == "cudaLaunchCooperativeKernel";
  const bool extended = callee->text == "cudaLaunchKernelEx" || callee->text == "cudaLaunchKernelExC";
  if (!cooperative && !extended && callee->text != "cudaLaunchKernel") return;
  std::vector<const SyntaxNode*> given;
  for (const SyntaxNode* child = arguments->first_child; child != nullptr; child = child->next)
    if (child->named && !child->Is("comment")) given.push_back(child);
  const size_t kernel_at = extended ? 1 : 0;
  if (given.size() < 2) return;
  CudaLaunch launch;
  launch.node = call;
  // The kernel's name is the last identifier of &kernel, (void*)kernel or kernel<float>.
  const SyntaxNode* first = given[kernel_at];
  for (const SyntaxNode* node = first; node != nullptr; node = NextInDocument(node, first))
    if (node->Is("identifier") && launch.kernel.empty()) launch.kernel = node->text;
  if (!extended) {
    launch.grid = given[1]->text;
    if (given.size() > 2) launch.block = given[2]->text;
  }
  launch.in_loop = IsInLoop(call, function);
  launch.function = function;
  launch.checked = true;  // the call returns its error
  const std::string_view around = function != nullptr ? function->text : std::string_view();
  launch.cooperative = cooperative || Contains(around, "cudaLaunchAttributeCooperative");
  launch.cluster = extended && Contains(around, "cudaLaunchAttributeClusterDimension");
  unit->launches.push_back(launch);
}

void ReadLaunch(const SyntaxNode* call, const SyntaxNode* function, CudaUnit* unit) {
  const SyntaxNode* configuration = call->ChildOfType("kernel_call_syntax");
  if (configuration == nullptr) return;
  CudaLaunch launch;
  launch.node = call;
  if (const SyntaxNode* callee = call->Field("function"))
    launch.kernel = callee->text.substr(0, callee->text.find('<'));
  int index = 0;
  for (const SyntaxNode* child = configuration->first_child; child != nullptr; child = child->next) {
    if (!child->named) continue;
    if (index == 0) launch.grid = child->text;
    if (index == 1) launch.block = child->text;
    ++index;
  }
  launch.in_loop = IsInLoop(call, function);
  launch.function = function;
  if (const SyntaxNode* arguments = call->Field("arguments"))
    for (const SyntaxNode* child = arguments->first_child; child != nullptr; child = child->next)
      if (child->named && !child->Is("comment")) launch.arguments.push_back(child->text);
  if (function != nullptr) {
    const std::string_view rest =
        function->text.substr(std::min<size_t>(function->text.size(), call->end - function->start));
    launch.checked = Contains(rest, "cudaGetLastError") || Contains(rest, "cudaPeekAtLastError") ||
                     Contains(rest, "KERNEL_LAUNCH_CHECK") || Contains(rest, "cudaDeviceSynchronize") ||
                     Contains(rest, "CUDA_CHECK");
  }
  unit->launches.push_back(launch);
}

// The grammar lacks __cluster_dims__(8) and would miss the kernel after it. Offsets do not change.
void BlankClusterAttributes(std::string* text) {
  constexpr std::string_view kAttribute = "__cluster_dims__";
  for (size_t at = text->find(kAttribute); at != std::string::npos; at = text->find(kAttribute, at)) {
    size_t end = at + kAttribute.size();
    if (end < text->size() && (*text)[end] == '(') end = std::min(text->find(')', end), text->size() - 1) + 1;
    std::fill(text->begin() + static_cast<long>(at), text->begin() + static_cast<long>(end), ' ');
  }
}

}  // namespace

bool LooksLikeCuda(std::string_view text) {
  return text.size() > 20 && (Contains(text, "__global__") || Contains(text, "#include") ||
                              Contains(text, "torch::Tensor") || Contains(text, "at::Tensor"));
}

CudaUnit ReadCuda(std::string text, uint32_t offset) {
  CudaUnit unit;
  BlankClusterAttributes(&text);
  unit.text = std::make_unique<std::string>(std::move(text));
  unit.offset = offset;
  unit.tree = SyntaxTree::Parse(*unit.text, Language::kCuda);
  const SyntaxNode* root = unit.tree.root();
  if (root == nullptr) return unit;
  const SyntaxNode* function = nullptr;
  const std::map<std::string_view, int64_t> constants = IntegerConstants(root);
  const std::set<std::string_view> cluster_barriers = ClusterBarriers(root);
  for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root)) {
    if (function != nullptr && node->start >= function->end) function = nullptr;
    if (node->Is("function_definition")) {
      function = node;
      if (HasQualifier(node, "__global__")) {
        CudaKernel kernel;
        kernel.definition = node;
        kernel.name = FunctionName(node);
        kernel.body = node->Field("body");
        if (kernel.body != nullptr) KernelReader(&kernel, kernel.body, cluster_barriers).Read();
        kernel.static_shared_bytes = StaticSharedBytes(kernel, constants);
        kernel.flow = TraceCuda(node);
        unit.kernels.push_back(std::move(kernel));
      }
    }
    if (!node->Is("call_expression")) continue;
    ReadLaunch(node, function, &unit);
    ReadApiLaunch(node, function, &unit);
    if (const SyntaxNode* callee = node->Field("function")) {
      const std::string_view name = callee->text;
      if (StartsWith(name, "cublas") || StartsWith(name, "cudnn") || StartsWith(name, "at::") ||
          StartsWith(name, "torch::matmul") || StartsWith(name, "torch::conv") ||
          StartsWith(name, "torch::linear") || StartsWith(name, "torch::nn::functional"))
        unit.library_calls.push_back(name);
    }
  }
  return unit;
}

}  // namespace hone
