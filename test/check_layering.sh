#!/usr/bin/env bash
# The arrows between the folders, as includes:
#   dialect <- compiler -> runtime/schedule, runtime/machine (and runtime/base) <- runtime/executor -> runtime/device
# compiler/planning's library (everything but the files of its pass) sees neither MLIR nor LLVM, and of the runtime only
# machine and base.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

# forbid FOLDER PATTERN WHY [grep options]: no source below FOLDER may include what matches PATTERN.
forbid() {
  local found
  found=$(grep -rnE --include=*.h --include=*.cc --include=*.cpp --include=*.td --include=*.fbs "${@:4}" \
            "^[[:space:]]*#?include[[:space:]]*[<\"]($2)" "$1" 2>/dev/null)
  if [ -n "$found" ]; then
    echo "layering: $3:"
    echo "$found"
    status=1
  fi
}

forbid runtime 'mlir/|llvm/|dialect/|compiler/|tools/' 'the runtime never includes MLIR, LLVM, dialect/, compiler/ or tools/'
forbid dialect 'compiler/|runtime/|tools/' 'dialect/ holds words only'
forbid compiler 'tools/|runtime/(executor|device|io|trace|simulator)/' 'compiler/ may include runtime/schedule, machine and base only'
forbid runtime/base 'runtime/(machine|schedule|simulator|device|executor|io|trace)/' 'runtime/base stands alone'
forbid runtime/machine 'runtime/(schedule|simulator|device|executor|io|trace)/' 'runtime/machine sees runtime/base only'
forbid runtime/schedule 'runtime/(simulator|device|executor|io|trace)/' 'runtime/schedule sees base and machine only'
forbid runtime/simulator 'runtime/(device|executor|io|trace)/' 'runtime/simulator sees base, machine and schedule only'
forbid runtime/device 'runtime/(simulator|executor|io|trace)/' 'runtime/device sees base, machine and schedule only'
forbid runtime/io 'runtime/(machine|schedule|simulator|device|executor|trace)/' 'runtime/io sees runtime/base only'
forbid tools/autopar-run 'mlir/|llvm/|dialect/|compiler/' 'autopar-run is built without MLIR and LLVM'
forbid compiler/planning 'mlir/|llvm/|dialect/|runtime/(schedule|simulator|device|executor|io|trace)/' \
  'the planner is plain C++ over runtime/machine' --exclude=PlanSchedule*.cpp --exclude=Report*.cpp --exclude=Report*.h \
  --exclude=FunctionTasks* --exclude=PlanAttr*

exit $status
