#include "runtime/device/host/cpu_features.h"

#include <fstream>
#include <set>
#include <sstream>

namespace autopar {
namespace {

std::set<std::string> ReadCpuFeatures() {
  std::set<std::string> features;
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::string word;
    while (words >> word) features.insert(word);
    break;
  }
  return features;
}

}  // namespace

std::vector<std::string> MissingCpuFeatures(const std::vector<std::string>& features) {
  static const std::set<std::string>* have = new std::set<std::string>(ReadCpuFeatures());
  std::vector<std::string> missing;
  for (const std::string& feature : features) {
    if (have->count(feature) == 0) missing.push_back(feature);
  }
  return missing;
}

}  // namespace autopar
