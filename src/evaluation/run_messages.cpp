#include "evaluation/run_messages.h"

namespace hone {

FieldList MakeInputsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&MakeInputsReply::tree>("tree", kMayLack),
      FieldFor<&MakeInputsReply::fixed>("fixed", kMayLack),
      FieldFor<&MakeInputsReply::telling>("telling", kMayLack),
  };
  return kFields;
}

FieldList MakeInputsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&MakeInputsRequest::inputs>("inputs"),
      FieldFor<&MakeInputsRequest::seed>("seed"),
      FieldFor<&MakeInputsRequest::slot>("slot"),
      FieldFor<&MakeInputsRequest::variant>("variant", kMayLack),
      FieldFor<&MakeInputsRequest::regime>("regime", kMayLack),
      FieldFor<&MakeInputsRequest::draw>("draw", kMayLack),
      FieldFor<&MakeInputsRequest::change>("change", kMayLack),
      FieldFor<&MakeInputsRequest::output_shapes>("output_shapes", kMayLack),
      FieldFor<&MakeInputsRequest::near>("near", kMayLack),
      FieldFor<&MakeInputsRequest::hold>("hold", kMayLack),
  };
  return kFields;
}

FieldList FetchRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&FetchRequest::bytes>("bytes"),
      FieldFor<&FetchRequest::on_device>("on_device"),
      FieldFor<&FetchRequest::trim>("trim", kMayLack),
  };
  return kFields;
}

FieldList PutInputsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&PutInputsRequest::inputs>("inputs"),
      FieldFor<&PutInputsRequest::tree>("tree"),
      FieldFor<&PutInputsRequest::in_place>("in_place", kMayLack),
      FieldFor<&PutInputsRequest::bytes>("bytes", kMayLack),
      FieldFor<&PutInputsRequest::on_device>("on_device", kMayLack),
  };
  return kFields;
}

FieldList StressRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&StressRequest::slot>("slot"),
      FieldFor<&StressRequest::regime>("regime"),
      FieldFor<&StressRequest::seed>("seed"),
      FieldFor<&StressRequest::inputs>("inputs"),
  };
  return kFields;
}

FieldList MutantsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&MutantsReply::names>("names"),
      FieldFor<&MutantsReply::sensitivities>("sensitivities"),
  };
  return kFields;
}

FieldList MutantsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&MutantsRequest::slot>("slot"),
      FieldFor<&MutantsRequest::inputs>("inputs"),
      FieldFor<&MutantsRequest::seed>("seed"),
      FieldFor<&MutantsRequest::gradient_from>("gradient_from"),
  };
  return kFields;
}

FieldList RunReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&RunReply::tree>("tree"),
      FieldFor<&RunReply::inputs_after>("inputs_after", kMayLack),
      FieldFor<&RunReply::inputs_changed>("inputs_changed", kMayLack),
  };
  return kFields;
}

FieldList RunRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&RunRequest::slot>("slot"),
      FieldFor<&RunRequest::inputs>("inputs"),
      FieldFor<&RunRequest::seed>("seed"),
      FieldFor<&RunRequest::rung>("rung", kMayLack),
      FieldFor<&RunRequest::mutant>("mutant", kMayLack),
      FieldFor<&RunRequest::poison>("poison", kMayLack),
      FieldFor<&RunRequest::busy>("busy", kMayLack),
      FieldFor<&RunRequest::output_bytes>("output_bytes", kMayLack),
      FieldFor<&RunRequest::hold>("hold", kMayLack),
      FieldFor<&RunRequest::fresh>("fresh", kMayLack),
      FieldFor<&RunRequest::want_inputs>("want_inputs", kMayLack),
      FieldFor<&RunRequest::earlier>("earlier", kMayLack),
  };
  return kFields;
}

FieldList TruthRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&TruthRequest::slot>("slot"),
      FieldFor<&TruthRequest::inputs>("inputs"),
      FieldFor<&TruthRequest::seed>("seed"),
      FieldFor<&TruthRequest::keep>("keep"),
      FieldFor<&TruthRequest::mutant>("mutant", kMayLack),
      FieldFor<&TruthRequest::jitter>("jitter", kMayLack),
      FieldFor<&TruthRequest::jitter_seed>("jitter_seed", kMayLack),
      FieldFor<&TruthRequest::hold>("hold", kMayLack),
      FieldFor<&TruthRequest::earlier>("earlier", kMayLack),
  };
  return kFields;
}

FieldList RungRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&RungRequest::slot>("slot"),
      FieldFor<&RungRequest::inputs>("inputs"),
      FieldFor<&RungRequest::rung>("rung"),
  };
  return kFields;
}

FieldList CardReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CardReply::card>("card"),
  };
  return kFields;
}

FieldList CardRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CardRequest::slot>("slot"),
      FieldFor<&CardRequest::inputs>("inputs"),
  };
  return kFields;
}

FieldList GraphReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&GraphReply::graph>("graph", kMayLack),
      FieldFor<&GraphReply::declined>("declined", kMayLack),
  };
  return kFields;
}

FieldList GraphRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&GraphRequest::slot>("slot"),
      FieldFor<&GraphRequest::seed>("seed"),
      FieldFor<&GraphRequest::limit_bytes>("limit_bytes"),
  };
  return kFields;
}

FieldList ProfileReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ProfileReply::launches>("launches", kHint),
      FieldFor<&ProfileReply::own_us>("own_us", kHint),
      FieldFor<&ProfileReply::library_us>("library_us", kHint),
      FieldFor<&ProfileReply::kernels>("kernels", kHint),
  };
  return kFields;
}

FieldList ProfileRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ProfileRequest::slot>("slot"),
      FieldFor<&ProfileRequest::inputs>("inputs"),
  };
  return kFields;
}

FieldList CeilingsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CeilingsReply::rates>("rates"),
  };
  return kFields;
}

FieldList CeilingsRequest::Fields() {
  return {};
}

FieldList TamperingReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&TamperingReply::changed>("changed"),
      FieldFor<&TamperingReply::libraries>("libraries", kHint),
  };
  return kFields;
}

FieldList TamperingRequest::Fields() {
  return {};
}

FieldList CanaryReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CanaryReply::right>("right"),
  };
  return kFields;
}

FieldList CanaryRequest::Fields() {
  return {};
}

FieldList ContractReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ContractReply::failed>("failed", kMayLack),
      FieldFor<&ContractReply::not_applicable>("not_applicable", kMayLack),
      FieldFor<&ContractReply::names>("names", kMayLack),
      FieldFor<&ContractReply::tree>("tree", kMayLack),
      FieldFor<&ContractReply::changed>("changed", kMayLack),
      FieldFor<&ContractReply::draws>("draws", kMayLack),
  };
  return kFields;
}

FieldList ContractRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ContractRequest::step>("step"),
      FieldFor<&ContractRequest::slot>("slot", kMayLack),
      FieldFor<&ContractRequest::inputs>("inputs", kMayLack),
      FieldFor<&ContractRequest::as>("as", kMayLack),
      FieldFor<&ContractRequest::how>("how", kMayLack),
      FieldFor<&ContractRequest::names>("names", kMayLack),
      FieldFor<&ContractRequest::tree>("tree", kMayLack),
      FieldFor<&ContractRequest::seed>("seed", kMayLack),
      FieldFor<&ContractRequest::dim>("dim", kMayLack),
      FieldFor<&ContractRequest::full>("full", kMayLack),
      FieldFor<&ContractRequest::size>("size", kMayLack),
  };
  return kFields;
}

}  // namespace hone
