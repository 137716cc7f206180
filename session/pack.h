#ifndef ACPD_SESSION_PACK_H_
#define ACPD_SESSION_PACK_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Lists of strings as one blob for a store column: u32 length and bytes of each, little endian.
namespace acpd::session {

std::string Pack(const std::vector<std::string>& items);
std::optional<std::vector<std::string>> Unpack(std::string_view blob);  // nullopt: malformed
std::string PackMap(const std::map<std::string, std::string>& map);
std::optional<std::map<std::string, std::string>> UnpackMap(std::string_view blob);

}  // namespace acpd::session

#endif  // ACPD_SESSION_PACK_H_
