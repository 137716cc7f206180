#ifndef ACPD_TESTS_FUZZ_READER_CHECKS_H_
#define ACPD_TESTS_FUZZ_READER_CHECKS_H_

#include "acp/message.h"

namespace acpd::fuzz {

// Gives the parts of a message to every reader of acp/types.h that may meet them, and writes the
// answers that acpd would give.
void CheckReaders(const acp::Message& message);

}  // namespace acpd::fuzz

#endif  // ACPD_TESTS_FUZZ_READER_CHECKS_H_
