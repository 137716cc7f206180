#ifndef ACPD_TESTS_ACP_PROTOCOL_OVERSIZE_LINES_H_
#define ACPD_TESTS_ACP_PROTOCOL_OVERSIZE_LINES_H_

#include <string>
#include <vector>

// Lines that are too long, and what their top level says.
namespace acpd::acp {

struct OversizeCase {
  std::string line;  // BIG stands for a long string
  std::string id;
  std::string method;
};

inline const std::vector<OversizeCase>& OversizeCases() {
  static const std::vector<OversizeCase> cases = {
      {R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"BIG"}})", "7", "m"},
      {R"({"params":{"x":"BIG"},"method":"m","id":7})", "7", "m"},
      {R"( { "id" : "a b" , "params":["BIG"] , "method" : "x/y" } )", R"("a b")", "x/y"},
      {R"({"id":null,"method":"m","params":"BIG"})", "null", "m"},
      {R"({"id":9007199254740993123,"result":{"content":"BIG"}})", "9007199254740993123", ""},
      {R"({"id":-1.5e3,"error":{"message":"BIG"}})", "-1.5e3", ""},
      {R"({"method":"session/update","params":{"update":{"id":1,"method":"no","text":"BIG"}}})", "",
       "session/update"},
      {R"({"params":{"id":1,"method":"no","a":[{"id":2}],"t":"BIG"},"id":"q\"\\u00e9\\\\"})",
       R"("q\"\\u00e9\\\\")", ""},
      {R"({"params":"\"id\":5,\"method\":\"no\"}\\","x":"BIG","id":6})", "6", ""},
      {R"({"params":"\\\"}{[","method":"yes","y":"BIG"})", "", "yes"},
      {R"({"id":1,"id":2,"method":"a","method":"b","p":"BIG"})", "2", "b"},
      {R"({"method":"session\/request_permission","id":0,"p":"BIG"})", "0",
       "session/request_permission"},
      {R"({"id":{"id":3},"method":["m"],"p":"BIG"})", "", ""},
      {R"({"id":true,"method":null,"p":"BIG"})", "", ""},
      {R"({"id":12abc,"method":"m","p":"BIG"})", "", "m"},
      {R"({"x":"id","method":"m","p":"BIG"})", "", "m"},
      {R"(["BIG",{"id":1,"method":"m"}])", "", ""},
      {R"("BIG" {"id":1})", "", ""},
      {R"(BIG {"id":1,"method":"m"})", "", ""},
      {R"({"BIG":1,"id":4})", "4", ""},
      {R"({"id":"BIG","method":"m"})", "", "m"},
      {"\xEF\xBB\xBF"
       R"({"id":5,"p":"BIG"})",
       "5", ""},
      {R"({"id":5,"method":"m","p":"BIG)", "5", "m"},
      {R"({"id":5)", "", ""},
      {"{\"id\":\"\xFF\",\"p\":\"BIG\"}", "\"\xEF\xBF\xBD\"", ""},
      {R"({"id":"\ud83d","p":"BIG"})", R"("\ufffd")", ""},
  };
  return cases;
}

inline std::string Fill(std::string line, size_t size) {
  const size_t at = line.find("BIG");
  if (at != std::string::npos) line.replace(at, 3, std::string(size, 'x'));
  return line;
}

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_PROTOCOL_OVERSIZE_LINES_H_
