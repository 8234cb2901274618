#include "pipeline/tarball.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

struct Freer {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Entry = std::unique_ptr<archive_entry, Freer>;
using Archive = std::unique_ptr<archive, int (*)(archive*)>;

Error ArchiveError(archive* handle, const std::string& doing) {
  const char* why = archive_error_string(handle);
  return Error{ErrorKind::kInvalid, doing + ": " + SafeForTerminal(why == nullptr ? "no reason given" : why)};
}

la_ssize_t Append(archive* handle, void* bytes, const void* data, size_t size) {
  (void)handle;
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

Status CheckName(const std::string& name) {
  bool good = !name.empty() && name.size() <= 1024 && SafeForTerminal(name) == name &&
              name.find_first_of("\\\n\t") == std::string::npos;
  for (const std::string& part : Split(name, '/'))
    good = good && !part.empty() && part != "." && part != "..";
  if (good) return Ok();
  return Error{ErrorKind::kInvalid,
               "a member's name leads elsewhere: '" + SafeForTerminal(name.substr(0, 200)) + "'"};
}

Result<std::string> ReadMember(archive* handle, const std::string& name, size_t most) {
  std::string content;
  char buffer[65536];
  while (true) {
    const la_ssize_t got = archive_read_data(handle, buffer, sizeof buffer);
    if (got < 0) return ArchiveError(handle, "cannot unpack " + name);
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > most)
      return Error{ErrorKind::kInvalid, name + " is larger than any part of a run can be"};
  }
}

}  // namespace

Result<std::string> PackTar(const std::vector<TarMember>& members) {
  std::string bytes;
  const Archive handle(archive_write_new(), archive_write_free);
  archive_write_set_format_pax_restricted(handle.get());
  archive_write_add_filter_gzip(handle.get());
  archive_write_set_filter_option(handle.get(), "gzip", "timestamp", nullptr);
  archive_write_set_filter_option(handle.get(), "gzip", "compression-level", "9");
  archive_write_set_bytes_in_last_block(handle.get(), 1);  // without the padding for tapes
  if (archive_write_open(handle.get(), &bytes, nullptr, Append, nullptr) != ARCHIVE_OK)
    return ArchiveError(handle.get(), "cannot pack");
  for (const TarMember& member : members) {
    HONE_RETURN_IF_ERROR(CheckName(member.name));
    const Entry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), member.name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    if (archive_write_header(handle.get(), entry.get()) != ARCHIVE_OK ||
        archive_write_data(handle.get(), member.content.data(), member.content.size()) !=
            static_cast<la_ssize_t>(member.content.size()))
      return ArchiveError(handle.get(), "cannot pack " + member.name);
  }
  if (archive_write_close(handle.get()) != ARCHIVE_OK) return ArchiveError(handle.get(), "cannot pack");
  return bytes;
}

Result<std::string> FirstNameIn(const fs::path& file) {
  const Archive handle(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(handle.get());
  archive_read_support_filter_gzip(handle.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_filename(handle.get(), file.c_str(), 64 * 1024) != ARCHIVE_OK ||
      archive_read_next_header(handle.get(), &entry) != ARCHIVE_OK)
    return ArchiveError(handle.get(), "this is no archive of a run");
  const char* path = archive_entry_pathname(entry);
  return std::string(path == nullptr ? "" : path);
}

Result<std::vector<TarMember>> UnpackTar(const fs::path& file, const TarLimits& limits) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file, limits.file_bytes));
  const Archive handle(archive_read_new(), archive_read_free);
  archive_read_support_format_tar(handle.get());
  archive_read_support_filter_gzip(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return ArchiveError(handle.get(), "this is no archive of a run");
  std::vector<TarMember> members;
  std::set<std::string> names;
  size_t total = 0;
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(handle.get(), &entry);
    if (code == ARCHIVE_EOF) break;
    if (code != ARCHIVE_OK)
      return ArchiveError(handle.get(), "this is no archive of a run, or a damaged one");
    const char* path = archive_entry_pathname(entry);
    TarMember member{path == nullptr ? "" : path, ""};
    HONE_RETURN_IF_ERROR(CheckName(member.name));
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr ||
        archive_entry_symlink(entry) != nullptr)
      return Error{ErrorKind::kInvalid, member.name + " is not a plain file"};
    if (!names.insert(member.name).second) return Error{ErrorKind::kInvalid, member.name + " is there twice"};
    const la_int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<size_t>(size) > std::min(limits.member_bytes, limits.total_bytes - total) ||
        members.size() >= limits.members)
      return Error{ErrorKind::kInvalid, fmt::format("{} makes it larger than a run can be", member.name)};
    HONE_ASSIGN_OR_RETURN(member.content, ReadMember(handle.get(), member.name, static_cast<size_t>(size)));
    if (member.content.size() != static_cast<size_t>(size))
      return Error{ErrorKind::kInvalid, member.name + " is cut off"};
    total += member.content.size();
    members.push_back(std::move(member));
  }
  if (members.empty())
    return Error{ErrorKind::kInvalid, "this is no archive of a run: there is nothing in it"};
  return members;
}

}  // namespace hone
