#include "cli/prompt_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/text.h"

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
  const std::string ending = Lowered(path.extension().string());
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
  return bytes.find('\0') == std::string::npos && IsUtf8(bytes);
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

// Of the prompt so far, as it is sent: bytes that are no text go as base64.
size_t BytesOf(const acpd::v1::ChatRequest& chat) {
  size_t text = chat.prompt().size();
  size_t bytes = 0;
  for (const acpd::v1::ContentBlock& block : chat.content()) {
    text += block.resource().text().size();
    bytes +=
        block.image().data().size() + block.audio().data().size() + block.resource().blob().size();
  }
  return text + bytes / 3 * 4;
}

std::string AddLink(const std::filesystem::path& path, acpd::v1::ChatRequest* chat) {
  std::error_code error;
  acpd::v1::ResourceLink* block = chat->add_content()->mutable_resource_link();
  block->set_uri(FileUri(path.string()));
  block->set_name(path.filename().string());
  if (std::filesystem::is_directory(path, error)) {
    block->set_mime_type("inode/directory");
    return "";
  }
  block->set_mime_type(MimeTypeOf(path));
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) block->set_size(static_cast<int64_t>(size));
  return "";
}

std::string ReadBytes(const std::filesystem::path& path, std::string* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::strerror(errno);
  bytes->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file.bad() ? "it cannot be read" : "";
}

}  // namespace

std::string AddFile(const std::string& given, bool link, acpd::v1::ChatRequest* chat) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(given, error).lexically_normal();
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return given + ": " + (error ? error.message() : std::strerror(ENOENT));
  if (link) return AddLink(path, chat);
  if (std::filesystem::is_directory(status))
    return given + ": it is a folder; --link names it to the agent";
  // Reading a pipe or a device may never end.
  if (!std::filesystem::is_regular_file(status))
    return given + ": it is a pipe or a device; copy it into a file";
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return given + ": " + error.message();
  const std::string too_much = given + ": with it the prompt has more than 30 MiB; use --link";
  if (BytesOf(*chat) + size > kMostBytes) return too_much;
  std::string bytes;
  if (const std::string wrong = ReadBytes(path, &bytes); !wrong.empty())
    return given + ": " + wrong;
  AddContents(path.string(), std::move(bytes), chat);
  return BytesOf(*chat) > kMostBytes ? too_much : "";
}

std::string FolderFrom(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::error_code error;
  std::string folder = std::filesystem::absolute(path, error).lexically_normal().string();
  if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return error ? path : folder;
}

}  // namespace acpd::cli
