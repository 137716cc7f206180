#include "server/list_pages.h"

#include "server/convert.h"

namespace acpd::server {
namespace {

// Adds entries until the page is full; at least one. Returns how many.
template <class Views, class Repeated, class Convert>
size_t AddUntilFull(const Views& views, Repeated* out, Convert convert) {
  size_t bytes = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    auto* added = out->Add();
    convert(views[i], added);
    bytes += added->ByteSizeLong();
    if (bytes <= kMaxPageBytes || i == 0) continue;
    out->RemoveLast();
    return i;
  }
  return views.size();
}

template <class Request, class Params, class Page, class Views, class Response>
void Close(const Request& request, const Params& params, const Page& page, const Views& views,
           size_t added, Response* response) {
  const uint64_t as_of = params.as_of_position != 0 ? params.as_of_position : page.as_of_position;
  response->set_as_of_position(as_of);
  if (added == 0 || (added == views.size() && !page.more)) return;
  response->set_next_page_token(NextPageToken(request, views[added - 1], as_of));
}

}  // namespace

void FillPage(const v1::ListTurnsRequest& request, const ListTurnsParams& params,
              const session::TurnPage& page, v1::ListTurnsResponse* response) {
  const size_t added = AddUntilFull(page.turns, response->mutable_turns(),
                                    [](const session::TurnView& turn, v1::Turn* out) {
                                      ToProto(turn, TurnDetail::kListed, out);
                                    });
  Close(request, params, page, page.turns, added, response);
}

void FillPage(const v1::ListSessionsRequest& request, const ListSessionsParams& params,
              const session::SessionPage& page, v1::ListSessionsResponse* response) {
  const auto detail = params.full ? SessionDetail::kFull : SessionDetail::kBasic;
  const size_t added = AddUntilFull(page.sessions, response->mutable_sessions(),
                                    [detail](const session::SessionView& session,
                                             v1::Session* out) { ToProto(session, detail, out); });
  Close(request, params, page, page.sessions, added, response);
}

}  // namespace acpd::server
