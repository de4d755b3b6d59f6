#include "runtime/io/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/io/npy_header.h"

namespace autopar {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxHeaderBytes = 1 << 20;
constexpr uint64_t kMaxPipeBytes = uint64_t{1} << 40;
constexpr size_t kBlockBytes = 1 << 20;

absl::Status Bad(const std::string& name, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("'", name, "': ", std::string(what)));
}

// Bytes of known number that can be read at any place: a regular file, or memory. A file is read
// straight into the tensor, so that a big input is in memory once.
class Source {
 public:
  virtual ~Source() = default;
  virtual uint64_t size() const = 0;
  virtual absl::Status Read(uint64_t offset, uint8_t* target, size_t count) const = 0;
};

class MemorySource : public Source {
 public:
  explicit MemorySource(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  absl::Status Read(uint64_t offset, uint8_t* target, size_t count) const override {
    if (count != 0) std::memcpy(target, bytes_.data() + offset, count);
    return absl::OkStatus();
  }

 private:
  absl::Span<const uint8_t> bytes_;
};

class FileSource : public Source {
 public:
  FileSource(int descriptor, uint64_t size, const std::string& name)
      : descriptor_(descriptor), size_(size), name_(name) {}
  uint64_t size() const override { return size_; }
  absl::Status Read(uint64_t offset, uint8_t* target, size_t count) const override {
    while (count != 0) {
      const ssize_t got = pread(descriptor_, target, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FileError("cannot read", name_, errno);
      if (got == 0) return Bad(name_, "the file was cut short while it was read");
      target += got;
      offset += static_cast<uint64_t>(got);
      count -= static_cast<size_t>(got);
    }
    return absl::OkStatus();
  }

 private:
  const int descriptor_;
  const uint64_t size_;
  const std::string& name_;
};

template <size_t kBytes>
void SwapElements(uint8_t* data, size_t count) {
  for (size_t i = 0; i < count; ++i) std::reverse(data + i * kBytes, data + (i + 1) * kBytes);
}

void SwapBytes(uint64_t element_bytes, uint8_t* data, size_t count) {
  switch (element_bytes) {
    case 2:
      return SwapElements<2>(data, count);
    case 4:
      return SwapElements<4>(data, count);
    case 8:
      return SwapElements<8>(data, count);
  }
}

// Puts elements that come in Fortran order (first index fastest) where row-major order has them.
// The elements come in blocks, so the place is carried along as an odometer.
class FortranOrder {
 public:
  explicit FortranOrder(const std::vector<int64_t>& shape)
      : shape_(shape), index_(shape.size(), 0), strides_(shape.size()) {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= shape[i];
    }
  }
  void Scatter(const uint8_t* source, size_t count, uint64_t element_bytes, uint8_t* target) {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(target + static_cast<uint64_t>(place_) * element_bytes,
                  source + i * element_bytes, element_bytes);
      for (size_t axis = 0; axis < shape_.size(); ++axis) {
        place_ += strides_[axis];
        if (++index_[axis] < shape_[axis]) break;
        place_ -= strides_[axis] * shape_[axis];
        index_[axis] = 0;
      }
    }
  }

 private:
  const std::vector<int64_t>& shape_;
  std::vector<int64_t> index_, strides_;
  int64_t place_ = 0;
};

// `offset`: where the payload begins; it is of the right length.
absl::Status ReadPayload(const Source& source, uint64_t offset, const NpyHeader& header,
                         Tensor* tensor) {
  uint8_t* data = tensor->bytes().data();
  const size_t bytes = tensor->bytes().size();
  const uint64_t element_bytes = ElementBytes(header.type.element);
  if (!header.fortran_order || header.type.shape.size() < 2) {
    AUTOPAR_RETURN_IF_ERROR(source.Read(offset, data, bytes));
    if (header.big_endian) SwapBytes(element_bytes, data, bytes / element_bytes);
  } else {
    std::vector<uint8_t> block(std::min(bytes, kBlockBytes));
    FortranOrder order(header.type.shape);
    for (size_t done = 0; done < bytes;) {
      const size_t count = std::min(block.size(), bytes - done);
      AUTOPAR_RETURN_IF_ERROR(source.Read(offset + done, block.data(), count));
      if (header.big_endian) SwapBytes(element_bytes, block.data(), count / element_bytes);
      order.Scatter(block.data(), count / element_bytes, element_bytes, data);
      done += count;
    }
  }
  if (header.type.element == ElementType::kI1) {
    for (uint8_t& byte : tensor->bytes()) byte = byte != 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Read(const Source& source, const std::string& name,
                            std::optional<ElementType> wanted) {
  if (source.size() == 0) return Bad(name, "the file is empty, not a .npy file");
  uint8_t start[12] = {};
  AUTOPAR_RETURN_IF_ERROR(
      source.Read(0, start, static_cast<size_t>(std::min<uint64_t>(source.size(), sizeof(start)))));
  if (std::memcmp(start, kMagic.data(), std::min<uint64_t>(source.size(), kMagic.size())) != 0) {
    return Bad(name, "not a .npy file: it does not begin with \\x93NUMPY");
  }
  const uint8_t version = start[6];
  const uint64_t header_begin = version == 1 ? 10 : 12;
  if (source.size() < header_begin) return Bad(name, "the file ends within its header");
  if (version < 1 || version > 3 || start[7] != 0) {
    return Bad(name, absl::StrCat("format version ", version, ".", start[7],
                                  " is unknown; 1.0, 2.0 and 3.0 are read"));
  }
  uint64_t header_bytes = start[8] | start[9] << 8;
  if (version > 1)
    header_bytes |= static_cast<uint64_t>(start[10]) << 16 | static_cast<uint64_t>(start[11]) << 24;
  if (header_bytes > source.size() - header_begin) {
    return Bad(name, absl::StrCat("the header should have ", header_bytes,
                                  " bytes, but the file ends after ", source.size() - header_begin,
                                  " of them"));
  }
  if (header_bytes > kMaxHeaderBytes)
    return Bad(name, absl::StrCat("a header of ", header_bytes, " bytes is too long"));
  std::string text(header_bytes, '\0');
  AUTOPAR_RETURN_IF_ERROR(
      source.Read(header_begin, reinterpret_cast<uint8_t*>(text.data()), text.size()));
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(text, wanted);
  if (!header.ok()) return Bad(name, std::string(header.status().message()));

  const std::optional<uint64_t> bytes = CheckedBytes(header->type);
  const uint64_t present = source.size() - header_begin - header_bytes;
  if (!bytes)
    return Bad(
        name, absl::StrCat("an array of type ", header->type.ToString(), " is too large to exist"));
  if (*bytes > present) {
    return Bad(name, absl::StrCat("the file is cut short: ", header->type.ToString(), " needs ",
                                  *bytes, " bytes, and ", present, " are there"));
  }
  if (*bytes < present) {
    return Bad(name, absl::StrCat(present - *bytes, " bytes follow the array ",
                                  header->type.ToString(), "; a file holds one array"));
  }
  AUTOPAR_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(header->type));
  AUTOPAR_RETURN_IF_ERROR(ReadPayload(source, header_begin + header_bytes, *header, &tensor));
  return tensor;
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::Span<const uint8_t> file, const std::string& name,
                                std::optional<ElementType> wanted) {
  return Read(MemorySource(file), name, wanted);
}

absl::StatusOr<Tensor> ReadNpy(const std::string& path, std::optional<ElementType> wanted) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return FileError("cannot open", path, errno);
  if (!S_ISREG(info.st_mode)) {
    // A pipe has no size: it is taken whole (a folder gets its sentence here).
    AUTOPAR_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxPipeBytes));
    return ParseNpy(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
                    path, wanted);
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileError("cannot open", path, errno);
  absl::StatusOr<Tensor> result =
      fstat(descriptor, &info) != 0
          ? FileError("cannot read", path, errno)
          : Read(FileSource(descriptor, static_cast<uint64_t>(info.st_size), path), path, wanted);
  close(descriptor);
  return result;
}

absl::Status WriteNpy(const std::string& path, const TensorType& type,
                      absl::Span<const uint8_t> bytes) {
  std::string header = FormatNpyHeader(type);
  // Version 1 counts the header with 16 bits; only a rank of thousands needs version 2.
  const bool long_header = header.size() + 128 > 65535;
  const size_t begin = long_header ? 12 : 10;
  header.append(63 - (begin + header.size()) % 64, ' ');
  header += '\n';
  std::string start(kMagic);
  start += long_header ? '\2' : '\1';
  start += '\0';
  for (size_t i = 0; i < begin - 8; ++i)
    start += static_cast<char>(header.size() >> (8 * i) & 0xff);
  const std::string_view parts[] = {
      start, header, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  return WriteFile(path, parts);
}

}  // namespace autopar
