#ifndef ACPD_TESTS_AGENTS_CELL_RECORD_H_
#define ACPD_TESTS_AGENTS_CELL_RECORD_H_

#include <string>

namespace acpd::e2e {

// Adds the running test's result to the file that ACPD_MATRIX_FILE names (without it: nothing), as
// one line: agent TAB test TAB `pass`, `cannot: REASON` or `FAIL: what failed first`. `results`
// makes the table of it. Several test programs may write to one file.
void RecordCell(const std::string& agent, const std::string& cannot);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_CELL_RECORD_H_
