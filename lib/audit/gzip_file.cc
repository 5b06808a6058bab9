#include "audit/gzip_file.h"

#include <zlib.h>

#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

constexpr std::size_t kPieceBytes = 256 << 10;
// Window bits of zlib's deflateInit2: 15, and 16 more for a gzip header instead of a zlib one.
constexpr int kGzipWindow = 15 + 16;

class Deflater {
 public:
  Deflater() {
    valid_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (valid_) deflateEnd(&stream_);
  }

  // Leaves the loop once the output was not filled: only then has deflate() used up its input.
  Status Add(std::string& piece, bool last, AppendFile& out) {
    if (!valid_) return {Reason::kInternalError, "gzip: out of memory"};
    stream_.next_in = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_in = static_cast<uInt>(piece.size());
    int state = Z_OK;
    do {
      std::string packed(kPieceBytes, '\0');
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = static_cast<uInt>(packed.size());
      state = deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      if (state == Z_STREAM_ERROR) return {Reason::kInternalError, "gzip: stream error"};
      packed.resize(packed.size() - stream_.avail_out);
      RETURN_IF_ERROR(out.Append(packed));
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  z_stream stream_{};
  bool valid_ = false;
};

// Reads in pieces, so that memory does not grow with the log's size.
Status Compress(FileSystem& files, const std::string& from, AppendFile& out) {
  Deflater deflater;
  std::uint64_t offset = 0;
  for (bool last = false; !last;) {
    ASSIGN_OR_RETURN(std::string piece, files.ReadRange(from, offset, kPieceBytes));
    offset += piece.size();
    last = piece.size() < kPieceBytes;
    RETURN_IF_ERROR(deflater.Add(piece, last, out));
  }
  return {};
}

}  // namespace

// Removes `from` only after all of it is written: a crash leaves two files rather than none.
Status GzipFile(FileSystem& files, const std::string& from, const std::string& to, unsigned mode) {
  // Left by an attempt that was interrupted.
  if (files.Exists(to)) RETURN_IF_ERROR(files.Remove(to));
  ASSIGN_OR_RETURN(const auto out, files.OpenAppend(to, mode));
  Status compressed = Compress(files, from, *out);
  if (compressed.ok()) return files.Remove(from);
  (void)files.Remove(to);
  return compressed;
}

}  // namespace apiserver::v0::audit
