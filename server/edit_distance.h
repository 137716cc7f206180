#ifndef ACPD_SERVER_EDIT_DISTANCE_H_
#define ACPD_SERVER_EDIT_DISTANCE_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace acpd::server {

// How many characters have to be added, taken away or changed to make one of the other
// (Levenshtein).
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that is nearest to `word`; the first of several; "" of none.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace acpd::server

#endif  // ACPD_SERVER_EDIT_DISTANCE_H_
