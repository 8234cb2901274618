#include "pipeline/model_roles.h"

#include "base/text.h"

namespace hone {

namespace {

class ModelWithRoles : public Model {
 public:
  ModelWithRoles(std::unique_ptr<Model> main, std::unique_ptr<Model> repair)
      : main_(std::move(main)), repair_(std::move(repair)) {}

  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    Model& model = For(request.call_type);
    ModelReply reply = model.Ask(request, progress);
    // A record without a name would get the main model's name.
    if (reply.model.empty()) reply.model = model.name();
    return reply;
  }
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    Model& model = For(request.call_type);
    ModelReply reply = model.AskForSeveral(request, n, progress);
    if (reply.model.empty()) reply.model = model.name();
    return reply;
  }
  std::string name() const override { return main_->name(); }
  bool order_matters() const override { return main_->order_matters() || repair_->order_matters(); }
  bool asks_before_it_spends() const override {
    return main_->asks_before_it_spends() && repair_->asks_before_it_spends();
  }
  void MarkAnswered(const std::string& call_type, const std::string& key) override {
    For(call_type).MarkAnswered(call_type, key);
  }

 private:
  Model& For(const std::string& call_type) { return IsRepairCall(call_type) ? *repair_ : *main_; }

  std::unique_ptr<Model> main_;
  std::unique_ptr<Model> repair_;
};

}  // namespace

bool IsRepairCall(const std::string& call_type) {
  return call_type == "mend" || EndsWith(call_type, "_repair");
}

std::unique_ptr<Model> WithRepairModel(std::unique_ptr<Model> main, std::unique_ptr<Model> repair) {
  return std::make_unique<ModelWithRoles>(std::move(main), std::move(repair));
}

}  // namespace hone
