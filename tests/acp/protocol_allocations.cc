#include "tests/acp/protocol_allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace acpd::test {
namespace {

std::atomic<uint64_t> count{0};
std::atomic<size_t> bytes{0};
std::atomic<uint64_t> bytes_in_all{0};

void* Allocate(size_t size) noexcept {
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  ++count;
  bytes += malloc_usable_size(memory);
  bytes_in_all += size;
  return memory;
}

void Free(void* memory) noexcept {
  if (memory == nullptr) return;
  bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

uint64_t AllocationCount() { return count; }
size_t AllocatedBytes() { return bytes; }
uint64_t BytesInAll() { return bytes_in_all; }

}  // namespace acpd::test

void* operator new(size_t size) {
  void* memory = acpd::test::Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return acpd::test::Allocate(size);
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void operator delete(void* memory) noexcept { acpd::test::Free(memory); }
void operator delete(void* memory, size_t) noexcept { acpd::test::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { acpd::test::Free(memory); }
void operator delete[](void* memory) noexcept { acpd::test::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { acpd::test::Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { acpd::test::Free(memory); }
