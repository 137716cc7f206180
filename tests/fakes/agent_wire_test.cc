// What the fake agent keeps of its pipes for tests/schema.

#include <filesystem>
#include <sstream>
#include <vector>

#include "tests/fakes/fakes_test_base.h"

namespace acpd::fakes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AgentWireTest : public FakesTest {
 protected:
  AgentWireTest() { env_["ACPD_TEST_WIRE"] = folder_; }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      files.push_back(entry.path());
    }
    return files;
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::istringstream file(e2e::ReadFile(Files().at(0)));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const std::string folder_ = dir_.MakeFolder("wire");
};

TEST_F(AgentWireTest, BothDirectionsAreKeptByteForByteAndInOrder) {
  AgentProcess agent("fake_agent", env_);
  agent.Write("no JSON \xff\n\n");
  agent.Write(R"({"id":1,  "method":"foo/bar"})"
              "\n");
  const std::string answer = *agent.ReadLine();
  EXPECT_THAT(Lines(),
              ElementsAre("<no JSON \xff", "<", R"(<{"id":1,  "method":"foo/bar"})", ">" + answer));
}

TEST_F(AgentWireTest, WhatIsWrittenInPiecesIsALine) {
  UseScript({{"start", {{{"raw", "one\ntw"}}, {{"raw", "o\nthr"}}}}});
  AgentProcess agent("fake_agent", env_);
  agent.ReadLine();
  agent.ReadLine();
  EXPECT_THAT(Lines(), ElementsAre(">one", ">two"));
}

TEST_F(AgentWireTest, OfALineOverOneMegabyteOnlyTheDirectionIsKept) {
  const std::string most(1 << 20, 'x');
  const json script = {{"start", {{{"raw", most + "\n" + most + "x\nend\n"}}}}};
  env_["FAKE_AGENT_SCRIPT"] = dir_ / "script.json";  // more than an environment holds
  e2e::WriteFile(env_["FAKE_AGENT_SCRIPT"], script.dump());
  AgentProcess agent("fake_agent", env_);
  for (int i = 0; i < 3; ++i) agent.ReadLine();
  EXPECT_THAT(Lines(), ElementsAre(">" + most, "#>", ">end"));
}

TEST_F(AgentWireTest, EachProcessHasAFileOfItsOwn) {
  AgentProcess one("fake_agent", env_), other("fake_agent", env_);
  one.Open();
  other.Open();
  EXPECT_THAT(Files(), SizeIs(2));
}

TEST_F(AgentWireTest, WithoutTheVariableNothingIsKept) {
  env_["ACPD_TEST_WIRE"] = "";
  AgentProcess agent("fake_agent", env_);
  agent.Open();
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace acpd::fakes
