#include "apiserver/base/sync.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

#include "apiserver/base/detached.h"

namespace apiserver::v0 {
namespace {

constexpr std::size_t kThreadNameMax = 15;

// The host's signal handlers belong on the host's threads, so ours block what is sent to the
// process. Faults of the thread itself and a profiler's ticks still get through.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, signal);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

// Our threads hand work to each other all the time. Where they share a CPU, one that is woken need
// not interrupt the one that wakes it: batches stay whole, and a switch of threads is paid once for
// each of them. A policy that the host has chosen is left alone.
void DoNotInterruptTheWaker() {
  int policy = SCHED_OTHER;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0) return;
  if (policy == SCHED_OTHER) (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
}

[[noreturn]] void Die(const std::string& name, const char* what) {
  std::fprintf(stderr, "apiserver: an exception escaped thread \"%s\": %s\n", name.c_str(), what);
  std::terminate();
}

void RunBody(const std::string& name, UniqueFunction<void()>& body) {
  pthread_setname_np(pthread_self(), name.c_str());
  DoNotInterruptTheWaker();
  try {
    body();
    body = nullptr;  // Its captures are destroyed on this thread, before Join() returns.
  } catch (const std::exception& e) {
    Die(name, e.what());
  } catch (...) {
    Die(name, "not a std::exception");
  }
}

}  // namespace

WaitListener*& WaitListener::OfThisThread() {
  static thread_local WaitListener* listener = nullptr;
  return listener;
}

void Notification::Notify() {
  // Notified under the lock: the waiter may destroy this object as soon as it has seen the value.
  auto notified = notified_.Lock();
  *notified = true;
  notified_.NotifyAll();
}

bool Notification::HasBeenNotified() const { return *notified_.Lock(); }

void Notification::Wait() const {
  auto notified = notified_.Lock();
  notified.Wait([&] { return *notified; });
}

bool Notification::WaitFor(std::chrono::milliseconds timeout) const {
  auto notified = notified_.Lock();
  if (*notified) return true;
  return notified.WaitUntil(std::chrono::steady_clock::now() + timeout, [&] { return *notified; });
}

Thread::Thread(std::string name, UniqueFunction<void()> body) {
  if (name.size() > kThreadNameMax) name.resize(kThreadNameMax);
  const BlockSignals inherited_by_the_new_thread;
  thread_ = std::thread(
      [name = std::move(name), body = std::move(body)]() mutable { RunBody(name, body); });
}

Thread::~Thread() { Join(); }

void RunDetached(std::string name, UniqueFunction<void()> body) {
  if (name.size() > kThreadNameMax) name.resize(kThreadNameMax);
  const BlockSignals inherited_by_the_new_thread;
  std::thread([name = std::move(name), body = std::move(body)]() mutable {
    RunBody(name, body);
  }).detach();
}

void Thread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace apiserver::v0
