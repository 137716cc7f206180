#ifndef ACPD_ACP_TOP_LEVEL_SCAN_H_
#define ACPD_ACP_TOP_LEVEL_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acpd::acp {

// Finds the top-level `id` and `method` of a JSON-RPC message that is never held as a whole: too
// long or too deep to be parsed. Takes the line in any pieces; needs little memory and no
// recursion. It does not check the grammar. Not thread-safe.
class TopLevelScan {
 public:
  void Feed(std::string_view bytes);

  // All that it knows, at most a few KiB of bytes; Restore goes on from there. Restore returns
  // nullopt for what Save did not write.
  std::string Save() const;
  static std::optional<TopLevelScan> Restore(std::string_view saved);
  // One that finds nothing, whatever is fed.
  static TopLevelScan Blind();

  // The raw token of the id: a number, a string or null; empty: none was seen.
  std::string Id() const;
  // Empty: none was seen.
  std::string Method() const;

 private:
  // Both take what can be taken from the front of `bytes` and return its size.
  size_t FeedString(std::string_view bytes);
  size_t FeedOutside(char c);
  void Open();
  void Close();
  void EndMember();
  void Keep(std::string_view bytes);

  uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;  // in a string, behind a backslash
  bool no_object_ = false;
  bool too_long_ = false;  // what stands in token_ was cut
  std::string key_;
  std::string token_;  // the key or the value at hand, as it stands; only of the top level
  std::string id_;
  std::string method_;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_TOP_LEVEL_SCAN_H_
