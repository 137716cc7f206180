#include <algorithm>
#include <functional>
#include <vector>

#include "cli/commands.h"
#include "cli/event_printer.h"

namespace acpd::cli {
namespace {

using acpd::v1::ListEventsRequest;
using acpd::v1::ListEventsResponse;
using acpd::v1::ProgressEvent;

constexpr int kMostInPage = 500;

// Calls for page after page, until one is the last or `take` has enough of them and returns false.
int ReadPages(const Settings& settings, ListEventsRequest request,
              const std::function<bool(ListEventsResponse&)>& take) {
  const auto stub = Connect(settings);
  do {
    ListEventsResponse page;
    const auto context = NewContext(settings, kShortCall);
    const int code = Report(stub->ListEvents(context.get(), request, &page), *context);
    if (code != kOk) return code;
    if (!take(page)) return kOk;
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return kOk;
}

void PrintPast(const ProgressEvent& event, bool raw, EventPrinter& printer) {
  printer.Print(event);
  // The next text is another message's.
  if (!raw) printer.EndText();
}

// The last ones, which come newest first.
int PrintLast(const Settings& settings, ListEventsRequest request, size_t count, bool raw,
              EventPrinter& printer) {
  request.set_descending(true);
  request.set_page_size(static_cast<int>(std::min<size_t>(count, kMostInPage)));
  std::vector<ProgressEvent> last;
  const int code = ReadPages(settings, std::move(request), [&](ListEventsResponse& page) {
    for (ProgressEvent& event : *page.mutable_events()) {
      if (last.size() < count) last.push_back(std::move(event));
    }
    return last.size() < count;
  });
  if (code != kOk) return code;
  std::for_each(last.rbegin(), last.rend(),
                [&](const ProgressEvent& event) { PrintPast(event, raw, printer); });
  return kOk;
}

}  // namespace

int ShowHistory(const Settings& settings, const HistoryOptions& options) {
  ListEventsRequest request;
  request.set_session_id(options.session);
  request.set_coalesce(!options.raw);
  for (const std::string& kind : options.kinds) request.add_update_kinds(kind);
  EventPrinter printer(settings, EventPrinter::Scope::kSession);
  int code = kOk;
  if (options.last > 0) {
    code = PrintLast(settings, std::move(request), options.last, options.raw, printer);
  } else {
    request.set_page_size(kMostInPage);
    code = ReadPages(settings, std::move(request), [&](const ListEventsResponse& page) {
      for (const ProgressEvent& event : page.events()) PrintPast(event, options.raw, printer);
      return OutputIsGood();
    });
  }
  printer.EndText();
  return code;
}

}  // namespace acpd::cli
