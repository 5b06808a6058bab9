#include "server/debug/perf_events.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace apiserver::v0::server::debug {

namespace {

// A power of two: room for thirty of the deepest stacks, a few times the samples between two calls.
constexpr std::size_t kRingPages = 8;

// Returns why the kernel refuses, as a message for the client that asked for a profile.
Status PerfRefused(const char* call, int error) {
  std::string text = std::string(call) + ": " + std::generic_category().message(error);
  switch (error) {
    case ESRCH:
      return {Reason::kNotFound, std::move(text)};
    case EACCES:
    case EPERM:
      text += call == std::string_view("mmap")
                  ? "; raise the limit of locked memory (RLIMIT_MEMLOCK) or the sysctl "
                    "kernel.perf_event_mlock_kb"
                  : "; set the sysctl kernel.perf_event_paranoid to 2 or less or give the process "
                    "CAP_PERFMON, and let its seccomp profile allow perf_event_open";
      return {Reason::kForbidden, std::move(text)};
    case EMFILE:
    case ENFILE:
      text += "; raise the limit of open files";
      return {Reason::kServiceUnavailable, std::move(text)};
    default:
      text += "; this kernel or sandbox has no perf events";
      return {Reason::kServiceUnavailable, std::move(text)};
  }
}

// The pages that the kernel writes and this process reads: a page about the ring, and the ring.
class PerfEvents final : public ThreadSamples {
 public:
  PerfEvents(int fd, void* pages, std::size_t size)
      : fd_(fd), pages_(static_cast<std::byte*>(pages)), size_(size) {}
  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;
  ~PerfEvents() override {
    munmap(pages_, size_);
    close(fd_);
  }

  std::uint64_t Drain(const Take& take) override {
    auto* about = reinterpret_cast<perf_event_mmap_page*>(pages_);
    const std::uint64_t head = std::atomic_ref(about->data_head).load(std::memory_order_acquire);
    std::uint64_t lost = 0;
    std::uint64_t at = about->data_tail;
    while (at < head) {
      perf_event_header header;
      Copy(at, {reinterpret_cast<std::byte*>(&header), sizeof(header)});
      // Records are words; an empty one cannot be.
      std::vector<std::uint64_t> words(header.size / sizeof(std::uint64_t));
      if (words.empty()) break;
      Copy(at, std::as_writable_bytes(std::span(words)));
      lost += Handle(header, std::span(words).subspan(1), take);
      at += header.size;
    }
    std::atomic_ref(about->data_tail).store(head, std::memory_order_release);
    return lost;
  }

 private:
  // Copies the bytes of the ring from its `at`th byte on.
  void Copy(std::uint64_t at, std::span<std::byte> to) const {
    const std::byte* ring = pages_ + size_ / (kRingPages + 1);
    const std::size_t ring_size = size_ / (kRingPages + 1) * kRingPages;
    const std::size_t from = at % ring_size;
    const std::size_t first = std::min(to.size(), ring_size - from);
    std::memcpy(to.data(), ring + from, first);
    std::memcpy(to.data() + first, ring, to.size() - first);
  }

  // Returns the number of samples that a record reports as lost. `body` is the part after its
  // header.
  static std::uint64_t Handle(const perf_event_header& header, std::span<std::uint64_t> body,
                              const Take& take) {
    if (header.type == PERF_RECORD_LOST && body.size() >= 2) return body[1];
    if (header.type != PERF_RECORD_SAMPLE || body.size() < 2) return 0;
    // The body has the address, the length of the stack, and the stack between marks that tell user
    // frames from others.
    std::span<std::uint64_t> frames = body.subspan(2);
    if (body[1] < frames.size()) frames = frames.first(body[1]);
    std::vector<std::uint64_t> stack;
    for (const std::uint64_t frame : frames) {
      if (frame == 0 || frame >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) continue;
      stack.push_back(stack.empty() ? frame : frame - 1);
    }
    if (stack.empty()) stack.push_back(body[0]);
    take(stack);
    return 0;
  }

  const int fd_;
  std::byte* const pages_;
  const std::size_t size_;
};

}  // namespace

Result<std::unique_ptr<ThreadSamples>> OpenPerfEvents(int thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(kSamplePeriodNanoseconds);
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  constexpr int kAnyProcessor = -1;
  constexpr int kNoGroup = -1;
  const auto fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, kAnyProcessor,
                                           kNoGroup, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return PerfRefused("perf_event_open", errno);
  const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * (kRingPages + 1);
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (pages == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return PerfRefused("mmap", error);
  }
  return std::make_unique<PerfEvents>(fd, pages, size);
}

}  // namespace apiserver::v0::server::debug
