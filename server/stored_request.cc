#include "server/stored_request.h"

#include "server/chat_request.h"
#include "server/mcp_servers.h"
#include "server/request_checks.h"
#include "session/names.h"

namespace acpd::server {
namespace {

// What stands in the stored bytes beside the request, in fields that the API does not have.
enum MarkField : int {
  kHadApiKey = 15000,
  kHadSetupSecrets = 15001,
  kTraceparent = 15002,
  kTracestate = 15003,
  kBaggage = 15004,
};

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// The key is nobody's to keep, and how long a caller waits is not the turn's.
v1::ChatRequest WithoutKey(const v1::ChatRequest& request) {
  v1::ChatRequest copy = request;
  copy.clear_wait_for();
  if (copy.has_model_provider()) copy.mutable_model_provider()->clear_api_key();
  return copy;
}

// Whether there was anything to take away.
bool TakeSetupSecrets(v1::ChatRequest* request) {
  const bool had_meta = !request->meta_json().empty();
  request->clear_meta_json();
  return HideValues(request->mutable_mcp_servers()) || had_meta;
}

void AddText(MarkField field, const std::string& text, UnknownFieldSet* marks) {
  if (!text.empty()) marks->AddLengthDelimited(field, text);
}

std::string TextOf(const UnknownField& mark) {
  return mark.type() == UnknownField::TYPE_LENGTH_DELIMITED ? mark.length_delimited() : "";
}

void ReadMark(const UnknownField& mark, session::ChatRequest* request) {
  switch (mark.number()) {
    case kHadApiKey:
      if (request->model_provider) request->model_provider->api_key_lost = true;
      return;
    case kHadSetupSecrets:
      request->setup_secrets_lost = true;
      return;
    case kTraceparent:
      request->trace.traceparent = TextOf(mark);
      return;
    case kTracestate:
      request->trace.tracestate = TextOf(mark);
      return;
    case kBaggage:
      request->trace.baggage = TextOf(mark);
      return;
    default:
      return;
  }
}

}  // namespace

std::string EncodeRequest(const v1::ChatRequest& request, const acp::TraceContext& trace,
                          bool mcp_secrets) {
  v1::ChatRequest stored = WithoutKey(request);
  stored.DiscardUnknownFields();  // nothing says how large they are
  const bool lost = !mcp_secrets && TakeSetupSecrets(&stored);
  UnknownFieldSet* marks = stored.GetReflection()->MutableUnknownFields(&stored);
  if (!request.model_provider().api_key().empty()) marks->AddVarint(kHadApiKey, 1);
  if (lost) marks->AddVarint(kHadSetupSecrets, 1);
  AddText(kTraceparent, trace.traceparent, marks);
  AddText(kTracestate, trace.tracestate, marks);
  AddText(kBaggage, trace.baggage, marks);
  return stored.SerializeAsString();
}

bool ReadRequest(std::string_view stored_bytes, session::ChatRequest* request) {
  v1::ChatRequest stored;
  if (!stored.ParseFromArray(stored_bytes.data(), static_cast<int>(stored_bytes.size())))
    return false;
  *request = FieldsFrom(stored);
  request->stored_bytes = stored_bytes;
  const UnknownFieldSet& marks = stored.GetReflection()->GetUnknownFields(stored);
  for (int i = 0; i < marks.field_count(); ++i) ReadMark(marks.field(i), request);
  return true;
}

std::string ContentHash(const v1::ChatRequest& request, std::string_view key) {
  v1::ChatRequest content = WithoutKey(request);
  content.clear_request_id();
  return session::Fingerprint(key, CanonicalBytes(content));
}

}  // namespace acpd::server
