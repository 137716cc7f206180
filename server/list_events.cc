#include "server/list_events.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <utility>

#include "server/list_pages.h"
#include "server/page_token.h"
#include "server/request_checks.h"
#include "session/delivery.h"
#include "session/errors.h"
#include "session/manager_errors.h"

namespace acpd::server {
namespace {

using EventsPage = absl::StatusOr<grpc::ByteBuffer>;

constexpr size_t kDefaultEvents = 100;
constexpr size_t kMaxEvents = 500;
// Other readers have their turn between two pieces of the log.
constexpr size_t kPieceBytes = 256u << 10;

// Everything but where in it a page is.
std::string EventListName(v1::ListEventsRequest request) {
  request.clear_page_size();
  request.clear_page_token();
  return "ListEventsRequest" + CanonicalBytes(request);
}

void SetEventFilter(const v1::ListEventsRequest& request, Checks& checks, EventFilter& filter) {
  for (const int kind : request.event_kinds()) {
    checks.Enum("event_kinds", v1::EventKind_IsValid(kind) && kind != v1::EVENT_KIND_UNSPECIFIED);
    filter.event_kinds.insert(static_cast<uint32_t>(kind));
  }
  for (const std::string& kind : request.update_kinds()) {
    checks.Text("update_kinds", kind);
    filter.update_kinds.insert(kind);
  }
}

// The token names the event that the page before has reached. Within the range.
absl::Status GoOnBehind(const std::string& page_token, ListEventsParams& params) {
  const auto token = DecodePageToken(page_token, params.list);
  if (!token.ok()) return token.status();
  const std::string& text = token->before_id;
  uint64_t seq = 0;
  std::from_chars(text.data(), text.data() + text.size(), seq);
  session::SessionRange& range = params.range;
  if (!range.descending) {
    range.after_seq = std::max(range.after_seq, seq);
  } else if (range.before_seq == 0 || seq < range.before_seq) {
    range.before_seq = seq;
  }
  return absl::OkStatus();
}

// The reading of one page. On reader threads, one at a time; held by its callback.
class PageReading : public std::enable_shared_from_this<PageReading> {
 public:
  PageReading(session::EventLog* log, ListEventsParams params, std::function<void(EventsPage)> done)
      : log_(log),
        range_(std::move(params.range)),
        list_(std::move(params.list)),
        pager_(std::move(params.page)),
        done_(std::move(done)) {}

  void Read() {
    log_->ReadSession(range_, kPieceBytes, [self = shared_from_this()](session::SessionRows piece) {
      self->TakePiece(std::move(piece));
    });
  }

 private:
  void TakePiece(session::SessionRows piece) {
    if (!piece.status.ok()) return done_(session::OfSession(piece.status, range_.session_id));
    if (piece.deleted) return done_(session::NoSuchSession(range_.session_id));
    for (const session::LogRowPtr& row : piece.rows) {
      if (!TakeRow(row)) return Finish();
      read_ += row->bytes.size();
    }
    if (piece.rows.empty()) {
      pager_.EndOfLog();
    } else if (read_ >= kMaxReadForPage) {
      pager_.EndOfReading();
    } else {
      return Read();
    }
    Finish();
  }

  // The range begins behind it then.
  bool TakeRow(const session::LogRowPtr& row) {
    for (size_t i = 0; i < row->size(); ++i) {
      const size_t index = range_.descending ? row->size() - 1 - i : i;
      const uint64_t seq = row->first_seq + index;
      if (seq <= range_.after_seq || (range_.before_seq != 0 && seq >= range_.before_seq)) continue;
      if (!pager_.Take(row, index)) return false;
      (range_.descending ? range_.before_seq : range_.after_seq) = seq;
    }
    return true;
  }

  void Finish() {
    v1::ListEventsResponse end;
    if (const auto next = pager_.next())
      end.set_next_page_token(EncodePageToken({0, std::to_string(*next), 0}, list_));
    const grpc::Slice slices[] = {grpc::Slice(pager_.events()),
                                  grpc::Slice(end.SerializeAsString())};
    done_(grpc::ByteBuffer(slices, 2));
  }

  session::EventLog* const log_;
  session::SessionRange range_;  // what was not yet read
  const std::string list_;
  EventPager pager_;
  const std::function<void(EventsPage)> done_;
  size_t read_ = 0;
};

}  // namespace

absl::StatusOr<ListEventsParams> ListEventsFrom(const v1::ListEventsRequest& request) {
  ListEventsParams params;
  Checks checks;
  checks.Session(request.session_id());
  checks.Require(request.page_size() >= 0, "INVALID_REQUEST", "page_size is negative.");
  SetEventFilter(request, checks, params.page.filter);
  if (!checks.status().ok()) return checks.status();
  params.range.session_id = request.session_id();
  params.range.after_seq = request.after_seq();
  params.range.before_seq = request.before_seq();
  params.range.descending = params.page.descending = request.descending();
  params.page.coalesce = request.coalesce();
  const auto asked = static_cast<size_t>(request.page_size());
  params.page.max_events = asked == 0 ? kDefaultEvents : std::min(asked, kMaxEvents);
  params.page.max_bytes = kMaxPageBytes;
  params.list = EventListName(request);
  if (request.page_token().empty()) return params;
  if (auto status = GoOnBehind(request.page_token(), params); !status.ok()) return status;
  return params;
}

awaitable<absl::Status> ListEvents(session::EventLog* log, asio::any_io_executor loop,
                                   session::CallPtr call, ListEventsParams params,
                                   grpc::ByteBuffer* response) {
  const auto delivery = std::make_shared<session::Delivery<EventsPage>>(std::move(loop));
  std::function<void(EventsPage)> done = session::DeliverTo(delivery);
  const auto reading = std::make_shared<PageReading>(log, std::move(params), std::move(done));
  reading->Read();
  const bool arrived = co_await session::Arrive(delivery, call->deadline);
  if (!arrived) co_return session::StoreLate();
  EventsPage& page = *delivery->value;
  if (!page.ok()) co_return page.status();
  response->Swap(&*page);
  co_return absl::OkStatus();
}

}  // namespace acpd::server
