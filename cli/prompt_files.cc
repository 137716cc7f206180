#include "cli/prompt_files.h"

#include <google/protobuf/stubs/strutil.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace acpd::cli {
namespace {

// A request has at most 32 MiB.
constexpr uintmax_t kMostBytes = 30u << 20;

struct TypeRow {
  const char* ending;
  const char* mime_type;
};
constexpr TypeRow kTypes[] = {
    {".png", "image/png"},         {".jpg", "image/jpeg"},      {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},         {".webp", "image/webp"},     {".bmp", "image/bmp"},
    {".svg", "image/svg+xml"},     {".wav", "audio/wav"},       {".mp3", "audio/mpeg"},
    {".ogg", "audio/ogg"},         {".flac", "audio/flac"},     {".m4a", "audio/mp4"},
    {".json", "application/json"}, {".pdf", "application/pdf"}, {".md", "text/markdown"},
    {".html", "text/html"},        {".csv", "text/csv"},
};

std::string MimeTypeOf(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const TypeRow& row : kTypes) {
    if (ending == row.ending) return row.mime_type;
  }
  return "";
}

// A file's URI; bytes that may not stand in one are written as %XX.
std::string FileUri(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::strchr("/-._~", c) != nullptr) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

bool IsText(const std::string& bytes) {
  return bytes.find('\0') == std::string::npos &&
         google::protobuf::internal::IsStructurallyValidUTF8(bytes.data(),
                                                             static_cast<int>(bytes.size()));
}

void AddContents(const std::string& path, std::string bytes, acpd::v1::ChatRequest* chat) {
  const std::string mime_type = MimeTypeOf(path);
  acpd::v1::ContentBlock* block = chat->add_content();
  const bool image = mime_type.starts_with("image/") && mime_type != "image/svg+xml";
  if (image || mime_type.starts_with("audio/")) {
    acpd::v1::Media* media = image ? block->mutable_image() : block->mutable_audio();
    media->set_data(std::move(bytes));
    media->set_mime_type(mime_type);
    return;
  }
  acpd::v1::EmbeddedResource* resource = block->mutable_resource();
  resource->set_uri(FileUri(path));
  const bool text = IsText(bytes);
  resource->set_mime_type(!mime_type.empty() ? mime_type
                          : text             ? "text/plain"
                                             : "application/octet-stream");
  text ? resource->set_text(std::move(bytes)) : resource->set_blob(std::move(bytes));
}

}  // namespace

std::string AddFile(const std::string& given, bool link, acpd::v1::ChatRequest* chat) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(given, error).lexically_normal();
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return given + ": " + error.message();
  if (link) {
    acpd::v1::ResourceLink* block = chat->add_content()->mutable_resource_link();
    block->set_uri(FileUri(path.string()));
    block->set_name(path.filename().string());
    block->set_mime_type(MimeTypeOf(path));
    block->set_size(static_cast<int64_t>(size));
    return "";
  }
  if (size > kMostBytes) return given + ": it has more than 30 MiB; use --link";
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return given + ": " + std::strerror(errno);
  AddContents(path.string(), std::move(bytes), chat);
  return "";
}

}  // namespace acpd::cli
