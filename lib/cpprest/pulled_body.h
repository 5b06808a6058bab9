#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cpprest/cpprest.h"

namespace apiserver::inline v0::cpprest {

// The next piece that cpprestsdk wants to send: room to fill. If it is dropped unfilled, the answer
// is cut.
class Want {
 public:
  explicit Want(std::span<char> room) : room_(room) {}
  ~Want() { Break(); }
  Want(const Want&) = delete;
  Want& operator=(const Want&) = delete;

  std::span<char> room() const { return room_; }
  pplx::task<std::size_t> task() const { return pplx::create_task(filled_); }
  // Tells that so many bytes are in the room; zero: the body is complete. Only the first call
  // counts.
  void Fill(std::size_t bytes) { filled_.set(bytes); }
  void Break();

 private:
  const std::span<char> room_;
  pplx::task_completion_event<std::size_t> filled_;
};

// Fills wants. Any thread may call it; it must not block.
class Puller {
 public:
  virtual ~Puller() = default;
  virtual void Pull(std::unique_ptr<Want> want) = 0;
};

// The body of an answer for cpprestsdk, which asks for the next piece when it has written the last
// one: no bytes are kept in between.
class PulledBody final
    : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit PulledBody(std::shared_ptr<Puller> puller)
      : streambuf_state_manager(std::ios_base::in), puller_(std::move(puller)) {}

  pplx::task<std::size_t> getn(std::uint8_t* bytes, std::size_t count) override;

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode /*mode*/) const override { return 0; }
  void set_buffer_size(std::size_t /*size*/, std::ios_base::openmode /*mode*/) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode /*mode*/) const override { return traits::eof(); }
  pos_type seekpos(pos_type /*position*/, std::ios_base::openmode /*mode*/) override {
    return traits::eof();
  }
  pos_type seekoff(off_type /*offset*/, std::ios_base::seekdir /*way*/,
                   std::ios_base::openmode /*mode*/) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*& /*block*/, std::size_t& /*count*/) override { return false; }
  void release(std::uint8_t* /*block*/, std::size_t /*count*/) override {}

 protected:
  // cpprestsdk's listener reads by getn() alone; the other ways return nothing.
  pplx::task<std::size_t> _getn(std::uint8_t* bytes, std::size_t count) override {
    return getn(bytes, count);
  }
  pplx::task<int_type> _bumpc() override { return End(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return End(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return End(); }
  pplx::task<int_type> _ungetc() override { return End(); }
  std::size_t _scopy(std::uint8_t* /*bytes*/, std::size_t /*count*/) override { return 0; }
  pplx::task<int_type> _putc(std::uint8_t /*byte*/) override { return End(); }
  pplx::task<std::size_t> _putn(const std::uint8_t* /*bytes*/, std::size_t /*count*/) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t /*count*/) override { return nullptr; }
  void _commit(std::size_t /*count*/) override {}

 private:
  static pplx::task<int_type> End() { return pplx::task_from_result<int_type>(traits::eof()); }

  const std::shared_ptr<Puller> puller_;
};

}  // namespace apiserver::inline v0::cpprest
