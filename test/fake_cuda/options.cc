#include "test/fake_cuda/options.h"

#include <charconv>
#include <functional>
#include <map>

#include "test/fake_cuda/random.h"

namespace fake {
namespace {

using Setter = std::function<bool(std::string_view)>;

template <class Number>
Setter To(Number* target) {
  return [target](std::string_view text) {
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *target);
    return code == std::errc() && end == text.data() + text.size();
  };
}

Setter To(bool* target) {
  return [target](std::string_view text) {
    if (text != "0" && text != "1") return false;
    *target = text == "1";
    return true;
  };
}

template <class Choice>
Setter ToOne(Choice* target, std::map<std::string_view, Choice> choices) {
  return [target, choices](std::string_view text) {
    auto found = choices.find(text);
    if (found == choices.end()) return false;
    *target = found->second;
    return true;
  };
}

std::map<std::string_view, Setter> Setters(Options* o) {
  return {
      {"devices", To(&o->devices)},
      {"seed", To(&o->seed)},
      {"eagerness", To(&o->eagerness)},
      {"policy", ToOne<Policy>(&o->policy, {{"uniform", Policy::kUniform},
                                            {"starve", Policy::kStarveOne},
                                            {"newest", Policy::kNewestFirst}})},
      {"pageable", ToOne<Pageable>(&o->pageable, {{"blocking", Pageable::kBlocking},
                                                  {"staged", Pageable::kStaged},
                                                  {"async", Pageable::kAsync}})},
      {"memory_mb", To(&o->memory_mb)},
      {"arch", To(&o->arch)},
      {"driver", To(&o->driver)},
      {"stub", To(&o->stub)},
      {"peer", To(&o->peer)},
      {"peer_drops", To(&o->peer_drops)},
      {"staged_drops", To(&o->staged_drops)},
      {"fail", To(&o->fail)},
      {"fail_code", To(&o->fail_code)},
      {"late", To(&o->late)},
      {"kernel_fault", To(&o->kernel_fault)},
      {"drop_wait", To(&o->drop_wait)},
      {"drop_sync", To(&o->drop_sync)},
      {"drop_edge", To(&o->drop_edge)},
      {"guard", To(&o->guard)},
      {"uninitialised", To(&o->uninitialised)},
      {"leaks", To(&o->leaks)},
      {"fault",
       ToOne<OnFault>(&o->on_fault, {{"exit", OnFault::kExit}, {"continue", OnFault::kContinue}})},
      {"report", [o](std::string_view text) { return o->report = text, true; }},
      {"strict", To(&o->strict)},
  };
}

// Calls `visit` with each "name=value" of the list; false at the first that it refuses.
bool ForEach(std::string_view text,
             const std::function<bool(std::string_view, std::string_view)>& visit) {
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == text.npos ? "" : text.substr(comma + 1);
    if (item.empty()) continue;
    size_t equals = item.find('=');
    std::string_view value = equals == item.npos ? "" : item.substr(equals + 1);
    if (!visit(item.substr(0, equals), value)) return false;
  }
  return true;
}

}  // namespace

bool ParseOptions(std::string_view text, Options* options, std::string* error) {
  std::map<std::string_view, Setter> setters = Setters(options);
  // The seed first: the others may override what it draws.
  ForEach(text, [&](std::string_view name, std::string_view value) {
    if (name == "seed") setters[name](value);
    return true;
  });
  Random random(options->seed);
  options->eagerness = (int[]){0, 50, 90}[random.Below(3)];
  options->policy = static_cast<Policy>(random.Below(3));
  options->pageable = static_cast<Pageable>(random.Below(3));
  return ForEach(text, [&](std::string_view name, std::string_view value) {
    auto setter = setters.find(name);
    if (setter != setters.end() && setter->second(value)) return true;
    *error = "AUTOPAR_FAKE_CUDA: '" + std::string(name) + "=" + std::string(value) +
             "' is not understood; see test/fake_cuda/options.h";
    return false;
  });
}

}  // namespace fake
