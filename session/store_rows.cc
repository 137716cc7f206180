#include "session/store_rows.h"

#include <concepts>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "session/pack.h"
#include "session/setting_packs.h"
#include "session/store_columns.h"

namespace acpd::session {
namespace {

struct Names {
  const char* prefix = "";
  std::vector<std::string> names;
  template <class T>
  void operator()(const char* name, const T&) {
    names.push_back(absl::StrCat(prefix, name));
  }
  void Raw(const char* name, const std::string&) { names.push_back(name); }
};

template <class Row>
std::vector<std::string> NamesOf() {
  Names names;
  const Row row{};
  Table<Row>::Visit(names, row);
  return names.names;
}

// The api_key is left out: it is never stored.
std::string PackProvider(const ModelProvider& provider) {
  return Pack({provider.provider, provider.model, provider.base_url, PackMap(provider.options),
               provider.api_key_ref});
}

std::optional<ModelProvider> UnpackProvider(std::string_view blob) {
  std::optional<std::vector<std::string>> items = Unpack(blob);
  if (!items || items->size() != 5) return std::nullopt;
  std::optional<std::map<std::string, std::string>> options = UnpackMap((*items)[3]);
  if (!options) return std::nullopt;
  return ModelProvider{.provider = (*items)[0],
                       .model = (*items)[1],
                       .api_key = "",
                       .base_url = (*items)[2],
                       .options = *std::move(options),
                       .api_key_ref = (*items)[4]};
}

class Binder {
 public:
  explicit Binder(Statement& statement) : statement_(statement) {}
  const char* prefix = "";

  void operator()(const char*, const std::string& text) { statement_.BindAt(++index_, text); }
  void operator()(const char*, std::integral auto value) { statement_.BindAt(++index_, value); }
  void operator()(const char*, milliseconds value) { statement_.BindAt(++index_, value.count()); }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(const char*, T value) { statement_.BindAt(++index_, static_cast<int>(value)); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const char*, const std::optional<T>& value) {
    ++index_;
    value ? statement_.BindAt(index_, *value) : statement_.BindNull(index_);
  }
  void operator()(const char*, const Labels& map) {
    statement_.BindCopy(++index_, Blob{PackMap(map)});
  }
  void operator()(const char*, const std::optional<ModelProvider>& provider) {
    ++index_;
    provider ? statement_.BindCopy(index_, Blob{PackProvider(*provider)})
             : statement_.BindNull(index_);
  }
  void operator()(const char*, const SetupSettings& setup) {
    statement_.BindCopy(++index_, Blob{PackSetup(setup)});
  }
  void operator()(const char*, const std::vector<acp::ConfigOption>& options) {
    statement_.BindCopy(++index_, Blob{PackConfigOptions(options)});
  }
  void operator()(const char*, const std::vector<acp::ModeInfo>& modes) {
    statement_.BindCopy(++index_, Blob{PackModes(modes)});
  }
  void operator()(const char*, const std::vector<acp::OptionValue>& values) {
    statement_.BindCopy(++index_, Blob{PackOptionValues(values)});
  }
  void Raw(const char*, const std::string& bytes) { statement_.BindAt(++index_, Blob{bytes}); }

 private:
  Statement& statement_;
  int index_ = 0;
};

class Reader {
 public:
  explicit Reader(Statement& statement) : statement_(statement) {}
  const char* prefix = "";

  void operator()(const char*, std::string& text) { text = statement_.Text(++column_); }
  template <std::integral T>
  void operator()(const char*, T& value) {
    value = static_cast<T>(statement_.Int(++column_));
  }
  void operator()(const char*, milliseconds& value) {
    value = milliseconds(statement_.Int(++column_));
  }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(const char*, T& value) { value = static_cast<T>(statement_.Int(++column_)); }
  void operator()(const char*, std::optional<uint64_t>& value) {
    if (!statement_.IsNull(++column_)) value = statement_.UInt(column_);
  }
  void operator()(const char*, std::optional<double>& value) {
    if (!statement_.IsNull(++column_)) value = statement_.Double(column_);
  }
  void operator()(const char* name, Labels& map) {
    Keep(name, UnpackMap(statement_.Bytes(++column_)), map);
  }
  void operator()(const char* name, std::optional<ModelProvider>& provider) {
    if (statement_.IsNull(++column_)) return;
    Keep(name, UnpackProvider(statement_.Bytes(column_)), provider.emplace());
  }
  void operator()(const char* name, SetupSettings& setup) {
    Keep(name, UnpackSetup(statement_.Bytes(++column_)), setup);
  }
  void operator()(const char* name, std::vector<acp::ConfigOption>& options) {
    Keep(name, UnpackConfigOptions(statement_.Bytes(++column_)), options);
  }
  void operator()(const char* name, std::vector<acp::ModeInfo>& modes) {
    Keep(name, UnpackModes(statement_.Bytes(++column_)), modes);
  }
  void operator()(const char* name, std::vector<acp::OptionValue>& values) {
    Keep(name, UnpackOptionValues(statement_.Bytes(++column_)), values);
  }
  void Raw(const char*, std::string& bytes) { bytes = statement_.Text(++column_); }

 private:
  template <class T>
  void Keep(const char* name, std::optional<T> unpacked, T& field) {
    if (unpacked) {
      field = *std::move(unpacked);
    } else {
      statement_.db().Fail(absl::DataLossError(absl::StrCat("column ", name, " cannot be read")));
    }
  }

  Statement& statement_;
  int column_ = -1;
};

}  // namespace

template <class Row>
std::string UpsertSql() {
  const std::vector<std::string> names = NamesOf<Row>();
  const std::string sets =
      absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) {
        absl::StrAppend(out, name, " = excluded.", name);
      });
  const std::string places = absl::StrJoin(std::vector<std::string>(names.size(), "?"), ", ");
  return absl::StrCat("INSERT INTO ", Table<Row>::kName, "(", absl::StrJoin(names, ", "),
                      ") VALUES(", places, ") ON CONFLICT(", Table<Row>::kKey, ") DO UPDATE SET ",
                      sets);
}

template <class Row>
std::string ColumnsSql() {
  return absl::StrJoin(NamesOf<Row>(), ", ");
}

std::string TurnListColumnsSql() {
  std::vector<std::string> names = NamesOf<TurnRow>();
  for (std::string& name : names) {
    if (name == "prompt") name = "substr(prompt, 1, 1024)";
    if (name == "stored_request") name = "x''";
  }
  return absl::StrJoin(names, ", ");
}

template <class Row>
bool Upsert(Statement& statement, const Row& row) {
  statement.Reset();
  Binder binder(statement);
  Table<Row>::Visit(binder, row);
  return statement.Finish();
}

template <class Row>
Row ReadRow(Statement& statement) {
  Row row;
  Reader reader(statement);
  Table<Row>::Visit(reader, row);
  return row;
}

#define ACPD_INSTANTIATE(Row)                        \
  template std::string UpsertSql<Row>();             \
  template std::string ColumnsSql<Row>();            \
  template bool Upsert<Row>(Statement&, const Row&); \
  template Row ReadRow<Row>(Statement&)
ACPD_INSTANTIATE(SessionRow);
ACPD_INSTANTIATE(TurnRow);
ACPD_INSTANTIATE(QuestionRow);
ACPD_INSTANTIATE(WorkerRow);
ACPD_INSTANTIATE(AgentRequestRow);
ACPD_INSTANTIATE(TerminalRow);
#undef ACPD_INSTANTIATE

}  // namespace acpd::session
