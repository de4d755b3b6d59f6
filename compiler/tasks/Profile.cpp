#include "compiler/tasks/Profile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::autopar;

/// llvm::json recurses; real profiles nest three deep.
static bool nestsTooDeep(StringRef text) {
  constexpr int most = 64;
  int depth = 0;
  for (char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > most)
      return true;
  }
  return false;
}

FailureOr<Profile> Profile::read(StringRef path, Location loc) {
  auto fail = [&](const Twine &what) -> FailureOr<Profile> {
    emitError(loc) << "profile '" << path << "': " << what.str();
    return failure();
  };
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail(file.getError().message());
  if (nestsTooDeep((*file)->getBuffer()))
    return fail("nested more than 64 deep; autopar-run --profile= writes it");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse((*file)->getBuffer());
  if (!json)
    return fail("not JSON: " + llvm::toString(json.takeError()));
  const llvm::json::Object *top = json->getAsObject();
  const llvm::json::Object *tasks = top ? top->getObject("tasks") : nullptr;
  if (!tasks)
    return fail("has no object 'tasks'; autopar-run --profile= writes it");
  Profile profile;
  if (const llvm::json::Value *function = top->get("function")) {
    std::optional<StringRef> name = function->getAsString();
    if (!name)
      return fail("function: must be a name");
    profile.function = name->str();
  }
  for (const auto &[label, times] : *tasks) {
    const llvm::json::Object *devices = times.getAsObject();
    if (!devices)
      return fail("tasks." + StringRef(label) + ": must be an object from device to nanoseconds");
    auto &entry = profile.tasks[label];
    for (const auto &[device, time] : *devices) {
      std::optional<double> ns = time.getAsNumber();
      if (!ns || !(*ns >= 0 && *ns <= 1e15))
        return fail("tasks." + StringRef(label) + "." + StringRef(device) +
                    ": must be a time in nanoseconds, from 0 to 1e15");
      entry.emplace_back(StringRef(device).str(), *ns);
    }
  }
  return profile;
}

DictionaryAttr Profile::find(StringRef label, DictionaryAttr estimated, const ::autopar::Machine &machine) const {
  auto found = tasks.find(label);
  if (found == tasks.end() || found->second.empty())
    return {};
  Builder builder(estimated.getContext());
  NamedAttrList times(estimated);
  bool applies = false;
  // Kinds first: a name beats its kind, in the profile as in cost_ns.
  for (bool byKind : {true, false})
    for (const auto &[key, ns] : found->second)
      for (const ::autopar::Device &device : machine.devices) {
        if (key != (byKind ? ::autopar::DeviceKindName(device.kind) : std::string_view(device.name)))
          continue;
        if (byKind)
          times.erase(device.name);
        times.set(key, builder.getF64FloatAttr(ns));
        applies = true;
      }
  return applies ? times.getDictionary(estimated.getContext()) : DictionaryAttr();
}

SmallVector<StringRef> Profile::labels() const {
  SmallVector<StringRef> labels(tasks.keys());
  llvm::sort(labels);
  return labels;
}
