// The shapes of the random graphs. Linear in tasks + edges, but for series-parallel's sort.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "test/compiler/planning/graphs/RandomGraphs.h"

namespace autopar::planning {

namespace {

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

size_t roundedRoot(size_t number) {
  size_t root = 0;
  while ((root + 1) * (root + 1) <= number)
    ++root;
  return std::max<size_t>(root, 1);
}

Edges forkJoin(size_t tasks, size_t width) {
  Edges edges;
  if (width == 0)
    width = tasks < 3 ? 1 : tasks - 2;
  // The last task of one round is the first of the next.
  uint32_t first = 0;
  while (first + 1 < tasks) {
    const uint32_t left = uint32_t(tasks) - first - 1;
    const uint32_t side = std::min<uint32_t>(uint32_t(width), left);
    const bool joins = left > side;
    for (uint32_t i = 1; i <= side; ++i) {
      edges.push_back({first, first + i});
      if (joins)
        edges.push_back({first + i, first + side + 1});
    }
    first += side + 1;
  }
  return edges;
}

/// Edges from parent to child.
Edges tree(size_t tasks, bool balanced, Random &random) {
  Edges edges;
  const uint32_t children = uint32_t(random.between(2, 3));
  for (uint32_t task = 1; task < tasks; ++task)
    edges.push_back({balanced ? (task - 1) / children
                              : uint32_t(random.between(task > 5 ? task - 5 : 0, task - 1)),
                     task});
  return edges;
}

Edges turned(Edges edges, size_t tasks) {
  for (auto &[from, to] : edges) {
    std::swap(from, to);
    from = uint32_t(tasks) - 1 - from;
    to = uint32_t(tasks) - 1 - to;
  }
  return edges;
}

Edges pipeline(size_t tasks, size_t stages) {
  Edges edges;
  for (uint32_t task = 0; task < tasks; ++task) {
    if (task % stages != 0)
      edges.push_back({task - 1, task});
    if (task >= stages)
      edges.push_back({uint32_t(task - stages), task});
  }
  return edges;
}

/// From one edge: a random edge gets a task in its middle or beside it.
Edges seriesParallel(size_t tasks, Random &random) {
  if (tasks < 2)
    return {};
  Edges edges = {{0, 1}};
  for (uint32_t task = 2; task < tasks; ++task) {
    size_t chosen = size_t(random.between(0, int64_t(edges.size()) - 1));
    auto [from, to] = edges[chosen];
    if (random.chance(50))
      edges[chosen] = {from, task};
    else
      edges.push_back({from, task});
    edges.push_back({task, to});
  }
  return edges;
}

Edges stencil(size_t tasks, size_t width) {
  Edges edges;
  for (uint32_t task = uint32_t(width); task < tasks; ++task) {
    const uint32_t above = task - uint32_t(width), column = task % uint32_t(width);
    if (column > 0)
      edges.push_back({above - 1, task});
    edges.push_back({above, task});
    if (column + 1 < width)
      edges.push_back({above + 1, task});
  }
  return edges;
}

/// Reads and writes of tiles turned into edges: a task needs the last writer of each tile it uses.
class CholeskyShape {
public:
  explicit CholeskyShape(size_t tasks) : limit(tasks) {
    while (tiles * (tiles + 1) * (tiles + 2) / 6 < tasks)
      ++tiles;
    writer.assign(tiles * tiles, kNobody);
  }

  RandomShape run() {
    shape.equalValues = true;
    for (size_t k = 0; k < tiles; ++k) {
      add({at(k, k)});
      for (size_t i = k + 1; i < tiles; ++i)
        add({at(i, k), at(k, k)});
      for (size_t i = k + 1; i < tiles && count < limit; ++i)
        for (size_t j = k + 1; j <= i; ++j)
          i == j ? add({at(i, i), at(i, k)}) : add({at(i, j), at(i, k), at(j, k)});
    }
    return std::move(shape);
  }

private:
  static constexpr uint32_t kNobody = 0xffffffffu;
  size_t at(size_t row, size_t column) const { return row * tiles + column; }

  /// The first tile is written too.
  void add(std::initializer_list<size_t> used) {
    if (count == limit)
      return;
    for (size_t tile : used)
      if (writer[tile] != kNobody)
        shape.edges.push_back({writer[tile], uint32_t(count)});
    // Factorisation, triangular solve or symmetric update, product: 1 : 3 : 6 thirds of a tile
    // cubed.
    constexpr int64_t work[] = {0, 200, 600, 1200};
    shape.work.push_back(work[used.size()]);
    writer[*used.begin()] = uint32_t(count++);
  }

  size_t limit, tiles = 1, count = 0;
  std::vector<uint32_t> writer; // by tile
  RandomShape shape;
};

Edges layered(size_t tasks, size_t width, Random &random) {
  Edges edges;
  std::vector<uint32_t> layerBegin = {0};
  while (layerBegin.back() < tasks)
    layerBegin.push_back(std::min<uint32_t>(
        uint32_t(tasks), layerBegin.back() + uint32_t(random.between(1, 2 * int64_t(width) - 1))));
  for (size_t layer = 1; layer + 1 < layerBegin.size(); ++layer) {
    for (uint32_t task = layerBegin[layer]; task < layerBegin[layer + 1]; ++task) {
      std::array<uint32_t, 3> from;
      const size_t wanted = size_t(random.between(1, 3));
      size_t found = 0;
      for (size_t i = 0; i < wanted; ++i) {
        size_t source = layer - 1;
        if (i > 0 && random.chance(20))
          source = size_t(random.between(layer > 3 ? int64_t(layer) - 3 : 0, int64_t(layer) - 1));
        uint32_t chosen = uint32_t(random.between(layerBegin[source], layerBegin[source + 1] - 1));
        if (std::find(from.begin(), from.begin() + found, chosen) == from.begin() + found)
          from[found++] = chosen;
      }
      for (size_t i = 0; i < found; ++i)
        edges.push_back({from[i], task});
    }
  }
  return edges;
}

Edges randomEdges(const RandomGraphOptions &options, Random &random) {
  const size_t tasks = options.tasks;
  switch (options.family) {
  case Family::Fork:
    return forkJoin(tasks, tasks);
  case Family::Join:
    return turned(forkJoin(tasks, tasks), tasks);
  case Family::ForkJoin:
    return forkJoin(tasks, options.width);
  case Family::InTreeBalanced:
  case Family::InTreeUnbalanced:
    return turned(tree(tasks, options.family == Family::InTreeBalanced, random), tasks);
  case Family::OutTreeBalanced:
  case Family::OutTreeUnbalanced:
    return tree(tasks, options.family == Family::OutTreeBalanced, random);
  case Family::Pipeline:
    return pipeline(tasks, options.width ? options.width : size_t(random.between(3, 6)));
  case Family::SeriesParallel:
    return seriesParallel(tasks, random);
  case Family::Stencil:
    return stencil(tasks, options.width ? options.width : roundedRoot(tasks));
  case Family::Layered:
    return layered(tasks, options.width ? options.width : roundedRoot(tasks), random);
  case Family::Cholesky: // has a shape of its own
  case Family::Independent:
    break;
  }
  return {};
}

} // namespace

std::string_view familyName(Family family) {
  constexpr std::string_view names[] = {"fork",
                                        "join",
                                        "fork-join",
                                        "in-tree-balanced",
                                        "in-tree-unbalanced",
                                        "out-tree-balanced",
                                        "out-tree-unbalanced",
                                        "pipeline",
                                        "series-parallel",
                                        "stencil",
                                        "cholesky",
                                        "layered",
                                        "independent"};
  static_assert(std::size(names) == kFamilyCount);
  return names[size_t(family)];
}

RandomShape randomShape(const RandomGraphOptions &options, Random &random) {
  if (options.family == Family::Cholesky)
    return CholeskyShape(options.tasks).run();
  return {randomEdges(options, random), {}, false};
}

} // namespace autopar::planning
