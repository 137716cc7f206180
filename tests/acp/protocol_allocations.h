#ifndef ACPD_TESTS_ACP_PROTOCOL_ALLOCATIONS_H_
#define ACPD_TESTS_ACP_PROTOCOL_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>

// The test program replaces operator new and delete by counting ones.
namespace acpd::test {

uint64_t AllocationCount();  // since the start
size_t AllocatedBytes();     // now
uint64_t BytesInAll();       // of all allocations since the start

}  // namespace acpd::test

#endif  // ACPD_TESTS_ACP_PROTOCOL_ALLOCATIONS_H_
